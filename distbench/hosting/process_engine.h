// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_HOSTING_PROCESS_ENGINE_H_
#define DISTBENCH_HOSTING_PROCESS_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/hosting/engine_control.pb.h"
#include "distbench/hosting/engine_factory.h"
#include "distbench/hosting/engine_process.h"
#include "distbench/hosting/kept_measurements.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::hosting {

// An engine in another process, commanded over its socket. Keeps what the
// engine reports with its progress, so that the loss of the process does not
// lose it.
class ProcessEngine final : public HostedEngine, private EngineListener {
 public:
  // Calls give_back when the engine no longer needs its process.
  ProcessEngine(engine::EngineOptions options,
                std::shared_ptr<EngineProcess> process,
                std::function<void()> give_back);
  ~ProcessEngine() override;

  // First. If the process is lost until then, the loss is this error and
  // nothing else.
  absl::Status Make(MakeEngine request) ABSL_LOCKS_EXCLUDED(mutex_);

  pid_t pid() const override { return process_->pid(); }
  const std::string& address() const override { return address_; }
  const std::vector<int>& peers() const override { return peers_; }
  std::optional<RUsage> process_usage() const override { return usage_; }

  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline) override;
  void Start(int64_t start_ns) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop(absl::string_view reason) override;
  TrafficProgress progress() const override ABSL_LOCKS_EXCLUDED(mutex_);
  void TakeRecent(stats::SeriesByRpc& recent) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Shutdown() override;
  absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) override;

 private:
  // has_results: whether some of the engine's own results were emitted before.
  // The kept measurements would count these a second time.
  void EmitLoss(const absl::Status& loss, bool has_results,
                absl::FunctionRef<void(ResultChunk chunk)> emit) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::string WhatIsLeft(bool has_results) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  absl::StatusOr<EngineReport> Call(EngineCommand command);

  // EngineListener
  void OnReport(const EngineReport& report) override;
  void OnLost(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_);

  void MergeProgress(const EngineProgress& progress)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Reports the end of the traffic, once, and not before Start().
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  const engine::EngineOptions options_;
  const std::shared_ptr<EngineProcess> process_;
  const std::function<void()> give_back_;
  std::string address_;
  std::vector<int> peers_;
  std::optional<RUsage> usage_;

  mutable absl::Mutex mutex_;
  TrafficProgress totals_ ABSL_GUARDED_BY(mutex_);
  stats::SeriesByRpc recent_ ABSL_GUARDED_BY(mutex_);
  KeptMeasurements kept_ ABSL_GUARDED_BY(mutex_);
  absl::Status loss_ ABSL_GUARDED_BY(mutex_);
  bool is_made_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_started_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;

  // From here on, the process's reader may call this object.
  const int number_;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_PROCESS_ENGINE_H_
