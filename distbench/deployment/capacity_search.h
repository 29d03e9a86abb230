#ifndef DISTBENCH_DEPLOYMENT_CAPACITY_SEARCH_H_
#define DISTBENCH_DEPLOYMENT_CAPACITY_SEARCH_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/client/test_client.h"
#include "distbench/deployment/numa_comparison.h"
#include "distbench/search/search_run.h"

namespace distbench {

// Searches for capacities on clusters of this host, each of fresh processes.
class LocalCapacitySearch {
 public:
  // program: distbench itself. observe: told of each probe, for people.
  LocalCapacitySearch(std::string program, SearchTiming timing, int max_probes,
                      double tolerance,
                      std::function<void(const std::string&)> observe)
      : program_(std::move(program)),
        timing_(timing),
        max_probes_(max_probes),
        tolerance_(tolerance),
        observe_(std::move(observe)) {}

  // A failed run is an error: the deployment could not be measured.
  absl::StatusOr<CapacityAnswer> Search(const CapacityQuestion& question)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the search that is under way, and every later one. Any thread.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::StatusOr<TestResult> Run(TestClient& client,
                                 const DistributedSystemDescription& test)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string program_;
  const SearchTiming timing_;
  const int max_probes_;
  const double tolerance_;
  const std::function<void(const std::string&)> observe_;

  absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  TestClient* client_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_CAPACITY_SEARCH_H_
