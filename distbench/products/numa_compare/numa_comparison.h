// Runs the deployments of a comparison on this host, and records their
// capacities.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/test_client.h"
#include "distbench/products/numa_compare/numa_deployments.h"
#include "distbench/products/search/search_plan.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa_compare {

// A search for the capacity of one deployment, under one objective.
struct CapacityQuestion {
  const PlannedDeployment* deployment = nullptr;
  std::string objective;  // such as "cpu<=60%"
  int repetition = 0;     // from 0
  int number = 1;         // among all searches, in the order of running
  int count = 1;
};

// Must start the deployment afresh each time. Returns the results of one search
// (search_run.h), of which the last run is the one on which its answer is
// based. CANCELLED ends the comparison; other errors are recorded as the
// outcome of the search.
using CapacitySearch =
    std::function<absl::StatusOr<TestSequenceResults>(const CapacityQuestion&)>;

struct NumaComparisonOptions {
  std::string cpu_objective = "cpu<=60%";
  std::string latency_objective;  // empty: no such searches
  int repetitions = 3;

  // Seed for the order of the searches. Within each repetition all searches run
  // once, shuffled, so that changes over time do not favour a deployment.
  uint64_t seed = 0;

  // The settings of each search, without its objective.
  LoadSearchSpec search = {};
};

// The objective that the host's CPUs are this busy, "cpu<=60%".
std::string CpuObjective(double percent);

// Checks that all searches of a comparison can be planned for the test.
absl::Status CheckSearches(const NumaComparisonOptions& options,
                           const DistributedSystemDescription& test);

// The verdict of a failed search, whose evidence is the error.
inline constexpr char kFailedVerdict[] = "failed";

// Adds to the results as it goes, so that they keep what was found before an
// error. The error is that of a cancelled search, or says how many searches
// failed.
absl::Status RunNumaComparison(const DeploymentPlan& plan,
                               const NumaComparisonOptions& options,
                               const CapacitySearch& search,
                               TestSequenceResults& results);

// Searches for capacities, each on a local cluster of fresh processes.
class LocalCapacitySearch {
 public:
  // `program` is the path of distbench itself, and `spec` has the settings of
  // each search without its objective. `say` receives a line before each search
  // and one after each of its probes.
  LocalCapacitySearch(std::string program, LoadSearchSpec spec,
                      std::function<void(const std::string&)> say)
      : program_(std::move(program)),
        spec_(std::move(spec)),
        say_(std::move(say)) {}

  // Returns an error if a run failed, because the deployment was not measured.
  absl::StatusOr<TestSequenceResults> Search(const CapacityQuestion& question)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the current search and all later ones. May be called on any thread.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<TestSequenceResults> Search(const search::SearchPlan& plan,
                                             client::TestClient& client)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string program_;
  const LoadSearchSpec spec_;
  const std::function<void(const std::string&)> say_;

  absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  client::TestClient* client_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_COMPARISON_H_
