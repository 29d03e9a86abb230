// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/job_flags.h"

#include <cstdint>

namespace distbench::trace_import {

void AddJobFlags(CLI::App& command, JobOptions& options) {
  constexpr int64_t kMostIterations = 1'000'000'000;
  cli::AddNumberFlag(command, "--ranks", options.ranks, 2, kMaxRanks, "N",
                     "Of chakra, with the file of one rank: so many ranks do\n"
                     "what it does");
  cli::AddNumberFlag(command, "--iterations", options.iterations, 1,
                     kMostIterations, "N",
                     "Of chakra: how often ranks do what is in the trace");
  cli::AddNumberFlag(command, "--warmup_iterations", options.warmup_iterations,
                     0, kMostIterations, "N",
                     "Of chakra: iterations before these, which are not\n"
                     "measured");
}

}  // namespace distbench::trace_import
