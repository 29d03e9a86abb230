// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/process_engine.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/hosting/engine_messages.h"
#include "distbench/results/time_series.h"

namespace distbench::hosting {

ProcessEngine::ProcessEngine(engine::EngineOptions options,
                             std::shared_ptr<EngineProcess> process,
                             std::function<void()> give_back)
    : options_(std::move(options)),
      process_(std::move(process)),
      give_back_(std::move(give_back)),
      kept_(options_.plan->recording_memory_bytes),
      number_(process_->Add(*this)) {}

ProcessEngine::~ProcessEngine() {
  process_->Forget(number_);
  give_back_();
}

absl::Status ProcessEngine::Make(MakeEngine request) {
  EngineCommand command;
  *command.mutable_make() = std::move(request);
  const absl::StatusOr<EngineReport> report = Call(std::move(command));
  if (!report.ok()) return report.status();
  const EngineMade& made = report->made();
  address_ = made.address();
  peers_.assign(made.peers().begin(), made.peers().end());
  absl::Status status = FromCommandStatus(made.status());
  absl::MutexLock lock(&mutex_);
  status.Update(loss_);
  is_made_ = status.ok();
  return status;
}

absl::Status ProcessEngine::Connect(const std::vector<std::string>& addresses,
                                    absl::Time deadline) {
  EngineCommand command;
  ConnectEngine& connect = *command.mutable_connect();
  connect.mutable_addresses()->Assign(addresses.begin(), addresses.end());
  connect.set_timeout_ns(absl::ToInt64Nanoseconds(deadline - absl::Now()));
  const absl::StatusOr<EngineReport> report = Call(std::move(command));
  if (!report.ok()) return report.status();
  return FromCommandStatus(report->connected());
}

void ProcessEngine::Start(int64_t start_ns) {
  {
    absl::MutexLock lock(&mutex_);
    is_started_ = true;
  }
  EngineCommand command;
  command.mutable_start()->set_start_ns(start_ns);
  // OnLost() may have come before the traffic could be reported as finished.
  if (!Call(std::move(command)).ok()) Finish();
}

void ProcessEngine::Stop(absl::string_view reason) {
  EngineCommand command;
  command.set_engine(number_);
  command.mutable_stop()->set_reason(std::string(reason));
  process_->Send(command);
}

TrafficProgress ProcessEngine::progress() const {
  absl::MutexLock lock(&mutex_);
  return totals_;
}

void ProcessEngine::TakeRecent(stats::SeriesByRpc& recent) {
  stats::SeriesByRpc taken;
  {
    absl::MutexLock lock(&mutex_);
    taken.swap(recent_);
  }
  for (const auto& [rpc, series] : taken) series.AddTo(recent[rpc]);
}

void ProcessEngine::Shutdown() {
  EngineCommand command;
  command.mutable_shut_down();
  // A process that was lost has nothing left to shut down.
  (void)Call(std::move(command));
}

absl::Status ProcessEngine::Collect(
    absl::FunctionRef<void(ResultChunk chunk)> emit) {
  bool has_results = false;
  for (;;) {
    EngineCommand command;
    command.mutable_collect();
    absl::StatusOr<EngineReport> report = Call(std::move(command));
    if (!report.ok()) {
      EmitLoss(report.status(), has_results, emit);
      return report.status();
    }
    EngineResults& results = *report->mutable_results();
    for (ResultChunk& chunk : *results.mutable_chunks()) {
      has_results = true;
      emit(std::move(chunk));
    }
    if (!results.is_last()) continue;
    usage_ = results.usage();
    return absl::OkStatus();
  }
}

void ProcessEngine::EmitLoss(
    const absl::Status& loss, bool has_results,
    absl::FunctionRef<void(ResultChunk chunk)> emit) const {
  absl::MutexLock lock(&mutex_);
  const std::string& name = options_.plan->instances[options_.instance].name;
  ResultChunk chunk;
  chunk.set_instance(name);
  ServicePerformanceLog& log = *chunk.mutable_instance_log();
  log.set_engine_error_message(
      absl::StrCat(loss.message(), WhatIsLeft(has_results)));
  // An instance that calls nobody and does nothing has no measurements to lose.
  const bool may_measure =
      !peers_.empty() || !options_.plan->activities.empty();
  if (!has_results && may_measure) {
    log.set_measurements_end_timestamp_ns(kept_.end_timestamp_ns());
    kept_.Emit(name, emit);
  }
  emit(std::move(chunk));
}

std::string ProcessEngine::WhatIsLeft(bool has_results) const {
  if (has_results) return "; what it had not yet handed over is lost";
  if (peers_.empty()) return "";
  if (kept_.end_timestamp_ns() == 0) return "; what it measured is lost";
  return absl::StrCat(
      "; what it measured until ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                       absl::FromUnixNanos(kept_.end_timestamp_ns()),
                       absl::UTCTimeZone()),
      " is kept, as series and totals of its RPCs, and the rest is lost");
}

absl::StatusOr<EngineReport> ProcessEngine::Call(EngineCommand command) {
  command.set_engine(number_);
  return process_->Call(command);
}

void ProcessEngine::OnReport(const EngineReport& report) {
  if (report.has_progress()) MergeProgress(report.progress());
  if (report.has_overload()) {
    options_.on_overload(FromCommandStatus(report.overload()));
  }
  if (report.has_finished()) {
    MergeProgress(report.finished());
    Finish();
  }
}

void ProcessEngine::OnLost(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    loss_ = status;
    if (!is_made_) return;
  }
  options_.on_overload(status);
  Finish();
}

void ProcessEngine::MergeProgress(const EngineProgress& progress) {
  absl::MutexLock lock(&mutex_);
  totals_ = progress.totals();
  stats::SeriesByRpc recent;
  for (const auto& [rpc, series] : progress.recent()) {
    const absl::Status status = results::AddTimeSeries(series, recent[rpc]);
    LOG_IF(ERROR, !status.ok()) << status;
  }
  kept_.Add(recent);
  for (const auto& [rpc, series] : recent) series.AddTo(recent_[rpc]);
}

void ProcessEngine::Finish() {
  {
    absl::MutexLock lock(&mutex_);
    if (!is_started_ || std::exchange(is_finished_, true)) return;
  }
  options_.on_traffic_finished();
}

}  // namespace distbench::hosting
