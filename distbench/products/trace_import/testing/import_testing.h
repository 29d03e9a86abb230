// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests of imports share.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_IMPORT_TESTING_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_IMPORT_TESTING_H_

#include <string>

#include "distbench/products/trace_import/import_traces.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

// The test of a config, as it runs.
DistributedSystemDescription TestOf(const std::string& config);

Import ImportOf(const std::string& format, const std::string& text,
                const ImportOptions& options);

// The test fails if there is none.
const RpcSpec& RpcNamed(const DistributedSystemDescription& test,
                        const std::string& name);
const Action& ActionNamed(const DistributedSystemDescription& test,
                          const std::string& name);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TESTING_IMPORT_TESTING_H_
