// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How often the confidence intervals of searches contain the truth.

#ifndef DISTBENCH_PRODUCTS_SEARCH_TESTING_INTERVAL_COVERAGE_H_
#define DISTBENCH_PRODUCTS_SEARCH_TESTING_INTERVAL_COVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "proto/results.pb.h"

namespace distbench::search {

struct CoverageCase {
  std::string name;
  SimulatedQueue queue;
  std::string objective;
  double truth;  // the highest load that meets the objective
};

// Queues whose mean service time is 2 ms, as in workloads/mm1.config.
std::vector<CoverageCase> CoverageCases();

// Queues that remember for longer than a probe lasts: 2 s, and 4 minutes.
std::vector<CoverageCase> NearSaturationCases();

struct CoverageTiming {
  absl::Duration probe = absl::Seconds(10);
  absl::Duration final_run = absl::Seconds(20);
};

// Searches once on simulated time.
absl::StatusOr<SearchReport> SearchSimulated(const CoverageCase& search,
                                             const CoverageTiming& timing,
                                             int seed);

struct Coverage {
  int searches = 0;
  int answers = 0;         // searches that found a load
  int held = 0;            // answers whose interval contains the truth
  int proven = 0;          // answers called proven
  int wrongly_proven = 0;  // ... although they are above the truth

  // Over the answers, relative to the truth.
  double median_width = 0;
  double median_error = 0;

  // Of traffic, over all searches, in seconds.
  double mean_seconds = 0;
};

// Searches with the seeds from 0 on.
absl::StatusOr<Coverage> MeasureCoverage(const CoverageCase& search,
                                         const CoverageTiming& timing,
                                         int seeds);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_TESTING_INTERVAL_COVERAGE_H_
