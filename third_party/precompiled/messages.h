// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What files include that know results: see precompiled_header.bzl.
#include "proto/results.pb.h"
#include "third_party/precompiled/configs.h"
