// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What files include that know traffic configs, but no results: see
// precompiled_header.bzl.
#include "proto/traffic_config.pb.h"
#include "third_party/precompiled/libraries.h"
