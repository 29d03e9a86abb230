// Runs the deployments of a comparison and records their capacities.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/numa_compare/numa_deployments.h"
#include "proto/results.pb.h"

namespace distbench::numa_compare {

// A search for the capacity of one deployment, under one objective.
struct CapacityQuestion {
  const PlannedDeployment* deployment = nullptr;
  std::string objective;  // such as "cpu<=60%"
  int repetition = 0;     // from 0
  int number = 1;         // among all searches, in the order of running
  int count = 1;
};

struct CapacityAnswer {
  SearchReport search;

  // The last run, on which the answer is based.
  TestResult final_run;
};

// Must start the deployment afresh each time. CANCELLED ends the comparison;
// other errors are recorded as the outcome of the search.
using CapacitySearch =
    std::function<absl::StatusOr<CapacityAnswer>(const CapacityQuestion&)>;

struct NumaComparisonOptions {
  std::string cpu_objective = "cpu<=60%";
  std::string latency_objective;  // empty: no such searches
  int repetitions = 3;

  // Seed for the order of the searches. Within each repetition all searches run
  // once, shuffled, so that changes over time do not favour a deployment.
  uint64_t seed = 0;
};

// The verdict of a failed search, whose evidence is the error.
inline constexpr char kFailedVerdict[] = "failed";

// Adds to the results as it goes, so that they keep what was found before an
// error. The error is that of a cancelled search, or says how many searches
// failed.
absl::Status RunNumaComparison(const DeploymentPlan& plan,
                               const NumaComparisonOptions& options,
                               const CapacitySearch& search,
                               TestSequenceResults& results);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_
