// Engines for tests: they send no RPCs, and do what the test wants.

#ifndef DISTBENCH_HOSTING_TESTING_FAKE_ENGINE_H_
#define DISTBENCH_HOSTING_TESTING_FAKE_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/protocol/driver_environment.h"

namespace distbench {

// What an engine is asked to do.
enum class EngineStep { kMake, kConnect, kStart, kStop, kShutdown, kCollect };

// Makes engines whose traffic ends at once, unless told otherwise before. One
// factory may serve several nodes, as instances have different names.
// Thread-safe.
class FakeEngineFactory final : public EngineFactory {
 public:
  // The step of the instance waits until Unblock().
  void BlockAt(const std::string& instance, EngineStep step)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Unblock() ABSL_LOCKS_EXCLUDED(mutex_);

  // The step (kMake or kConnect) of the instance fails.
  void FailAt(const std::string& instance, EngineStep step, absl::Status status)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Traffic goes on until Stop().
  void SetEndless(bool is_endless) ABSL_LOCKS_EXCLUDED(mutex_);

  // As soon as it starts, the instance exceeds a limit.
  void OverloadAt(const std::string& instance) ABSL_LOCKS_EXCLUDED(mutex_);

  // As EngineFactory::limits() says then; they hold nothing here.
  void SetLimits(const EngineLimits& limits) ABSL_LOCKS_EXCLUDED(mutex_);
  EngineLimits limits() const override ABSL_LOCKS_EXCLUDED(mutex_);

  // How much each instance measures: chunks of about a MiB each.
  void SetChunkCount(int chunk_count) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the instance has come to the step, for the first time or again.
  // False: not within a generous time.
  bool WaitFor(const std::string& instance, EngineStep step)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // How often it has.
  int Count(const std::string& instance, EngineStep step) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Of the last engine of the instance.
  int worker_count(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t sample_memory_bytes(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  DriverEnvironment environment(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override;

 private:
  friend class FakeEngine;
  using Place = std::pair<std::string, EngineStep>;

  // Notes that the instance is there, waits if it is to wait, and returns
  // whether it is to fail.
  absl::Status Reach(const std::string& instance, EngineStep step)
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsEndless() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsOverloaded(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  int chunk_count() const ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  std::set<Place> blocked_ ABSL_GUARDED_BY(mutex_);
  std::map<Place, absl::Status> failures_ ABSL_GUARDED_BY(mutex_);
  std::map<Place, int> counts_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> overloaded_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> worker_counts_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> sample_memory_bytes_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, DriverEnvironment> environments_
      ABSL_GUARDED_BY(mutex_);
  EngineLimits limits_ ABSL_GUARDED_BY(mutex_);
  bool is_endless_ ABSL_GUARDED_BY(mutex_) = false;
  int chunk_count_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_TESTING_FAKE_ENGINE_H_
