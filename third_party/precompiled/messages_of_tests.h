// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests of such files include: see precompiled_header.bzl.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/precompiled/messages.h"
