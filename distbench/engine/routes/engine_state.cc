// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/routes/engine_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace distbench::engine {
namespace {

// Mutexes wait by the wall clock, whose steps should not make a wait longer or
// shorter.
constexpr absl::Duration kMaxWallClockWait = absl::Milliseconds(100);

}  // namespace

EngineState::EngineState(std::shared_ptr<const config::Plan> plan, int instance,
                         int worker_count, const base::Clock& clock)
    : plan_(std::move(plan)),
      instance_(instance),
      worker_count_(worker_count),
      clock_(clock),
      unix_offset_ns_(clock.UnixNs() - clock.MonotonicNs()),
      routes_(*plan_),
      targets_(plan_->rpcs.size()),
      recorded_numbers_(plan_->recorded_actions.size()) {
  for (size_t i = 0; i < plan_->rpcs.size(); ++i) {
    const config::RpcPlan& rpc = plan_->rpcs[i];
    if (std::count(rpc.client_services.begin(), rpc.client_services.end(),
                   instance_plan().service) == 0) {
      continue;
    }
    targets_[i].fanout = std::make_unique<Fanout>(*plan_, rpc, instance_);
    for (int candidate : targets_[i].fanout->candidates()) {
      targets_[i].routes.push_back(
          routes_.To(rpc.server_service, candidate, rpc.multi_server_channel));
    }
  }
  for (size_t i = 0; i < plan_->replay_traces.size(); ++i) {
    replay_tables_.emplace_back(*plan_, static_cast<int>(i), instance_,
                                routes_);
  }
}

bool EngineState::Stop(StopScope scope, absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (scope <= stop_scope_) return false;
  const int64_t now_ns = clock_.MonotonicNs();
  if (stop_scope_ == StopScope::kNothing) {
    stop_reason_ = std::string(reason);
    own_stopped_ns_ = now_ns;
  }
  if (scope == StopScope::kEverything) all_stopped_ns_ = now_ns;
  stop_scope_ = scope;
  return true;
}

int64_t EngineState::stopped_ns(bool own_traffic) const {
  absl::MutexLock lock(&mutex_);
  return own_traffic ? own_stopped_ns_ : all_stopped_ns_;
}

void EngineState::WaitUntil(int64_t time_ns) const {
  const auto is_over = [this] { return IsAllStopped(); };
  absl::MutexLock lock(&mutex_);
  while (!is_over()) {
    const int64_t left_ns = time_ns - clock_.MonotonicNs();
    if (left_ns <= 0) return;
    mutex_.AwaitWithTimeout(
        absl::Condition(&is_over),
        std::min(absl::Nanoseconds(left_ns), kMaxWallClockWait));
  }
}

std::string EngineState::stop_reason() const {
  absl::MutexLock lock(&mutex_);
  return stop_reason_;
}

std::string EngineState::stop_error() const {
  return absl::StrCat("Traffic cancelled: ", stop_reason());
}

}  // namespace distbench::engine
