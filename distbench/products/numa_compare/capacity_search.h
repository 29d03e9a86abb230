#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_CAPACITY_SEARCH_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_CAPACITY_SEARCH_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/test_client.h"
#include "distbench/products/numa_compare/numa_comparison.h"
#include "distbench/products/search/search_run.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa_compare {

// Searches for capacities, each on a local cluster of fresh processes.
class LocalCapacitySearch {
 public:
  // `program` is the path of distbench itself, and `spec` has the settings of
  // each search without its objective. `observe` receives a text about each
  // probe.
  LocalCapacitySearch(std::string program, LoadSearchSpec spec,
                      std::function<void(const std::string&)> observe)
      : program_(std::move(program)),
        spec_(std::move(spec)),
        observe_(std::move(observe)) {}

  // Returns an error if a run failed, because the deployment was not measured.
  absl::StatusOr<CapacityAnswer> Search(const CapacityQuestion& question)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the current search and all later ones. May be called on any thread.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<CapacityAnswer> Search(const search::SearchPlan& plan,
                                        client::TestClient& client)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string program_;
  const LoadSearchSpec spec_;
  const std::function<void(const std::string&)> observe_;

  absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  client::TestClient* client_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_CAPACITY_SEARCH_H_
