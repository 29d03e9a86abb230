// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fake engines for tests: they send no RPCs, and behave as the test says.

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

namespace distbench::hosting {

// The steps of an engine's life.
enum class EngineStep { kMake, kConnect, kStart, kStop, kShutdown, kCollect };

// Makes engines whose traffic ends at once, unless told otherwise beforehand.
// One factory may serve several nodes, because instances have different names.
// Thread-safe.
class FakeEngineFactory final : public EngineFactory {
 public:
  // Makes the step of the instance wait until Unblock().
  void BlockAt(const std::string& instance, EngineStep step)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Unblock() ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the step (kMake or kConnect) of the instance fail.
  void FailAt(const std::string& instance, EngineStep step, absl::Status status)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes traffic go on until Stop().
  void SetEndless(bool is_endless) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the instance exceed a limit as soon as it starts.
  void OverloadAt(const std::string& instance) ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets what limits() returns; the limits have no effect here.
  void SetLimits(const EngineLimits& limits) ABSL_LOCKS_EXCLUDED(mutex_);
  EngineLimits limits() const override ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets how many chunks, of about a MiB each, an instance emits.
  void SetChunkCount(int chunk_count) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the instance reaches the step, whether for the first time or
  // again. Returns false after a generous time.
  bool WaitFor(const std::string& instance, EngineStep step)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // How often the instance has reached the step.
  int Count(const std::string& instance, EngineStep step) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Options of the last engine of the instance.
  int worker_count(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t sample_memory_bytes(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  protocol::DriverEnvironment environment(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  int group(const std::string& instance) const ABSL_LOCKS_EXCLUDED(mutex_);
  security::InstanceLimits limits_of(const std::string& instance) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override;

 private:
  friend class FakeEngine;
  using Place = std::pair<std::string, EngineStep>;

  // Records that the instance has reached the step, blocks if that was
  // requested, and returns an error if the step is to fail.
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
  std::map<std::string, protocol::DriverEnvironment> environments_
      ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> groups_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, security::InstanceLimits> instance_limits_
      ABSL_GUARDED_BY(mutex_);
  EngineLimits limits_ ABSL_GUARDED_BY(mutex_);
  bool is_endless_ ABSL_GUARDED_BY(mutex_) = false;
  int chunk_count_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_TESTING_FAKE_ENGINE_H_
