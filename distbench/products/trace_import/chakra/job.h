// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// From what each rank does to a test of the job: ranks are instances, which do
// the same communications.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/trace_import/chakra/rank_work.h"
#include "distbench/products/trace_import/provenance.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

inline constexpr int64_t kMaxRanks = 100'000;

struct JobOptions {
  // 0: as many as there are works. With one work, all ranks do the same.
  int64_t ranks = 0;
  int64_t iterations = 20;
  int64_t warmup_iterations = 2;
};

struct JobImport {
  DistributedSystemDescription test;  // which passes CheckTestSequence()
  std::string text;  // the test as a file that people read, with comments
  Provenance provenance;
  int64_t ranks = 0;
  int64_t nodes = 0;           // of all files
  int64_t communications = 0;  // of a rank in an iteration
  // Of an iteration if communications took no time: of the slowest rank.
  int64_t critical_path_us = 0;
};

// Works are by rank. Collectives are those of test_builder's patterns.
// INVALID_ARGUMENT: ranks do not do the same, groups are no grid of ranks,
// messages have no other side, or the number of ranks is not possible; the
// message says where.
absl::StatusOr<JobImport> ImportJob(const std::vector<RankWork>& works,
                                    const JobOptions& options);

// As ImportText() and ImportJson().
std::string JobText(const JobImport& import);
std::string JobJson(const JobImport& import);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CHAKRA_JOB_H_
