// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_FLAGS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_FLAGS_H_

#include "distbench/cli/flags.h"
#include "distbench/products/trace_import/chakra/job.h"

namespace distbench::trace_import {

// --ranks, --iterations and --warmup_iterations. `options` must outlive the
// parsing.
void AddJobFlags(CLI::App& command, JobOptions& options);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_FLAGS_H_
