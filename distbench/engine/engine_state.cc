#include "distbench/engine/engine_state.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace distbench {

EngineState::EngineState(std::shared_ptr<const Plan> plan, int instance,
                         int worker_count, const Clock& clock)
    : plan_(std::move(plan)),
      instance_(instance),
      worker_count_(worker_count),
      clock_(clock),
      unix_offset_ns_(clock.UnixNs() - clock.MonotonicNs()),
      targets_(plan_->rpcs.size()) {
  absl::flat_hash_map<int, int> peer_of_instance;
  for (size_t i = 0; i < plan_->rpcs.size(); ++i) {
    const RpcPlan& rpc = plan_->rpcs[i];
    if (std::count(rpc.client_services.begin(), rpc.client_services.end(),
                   instance_plan().service) == 0) {
      continue;
    }
    targets_[i].fanout = std::make_unique<Fanout>(*plan_, rpc, instance_);
    const int first = plan_->services[rpc.server_service].first_instance;
    for (int candidate : targets_[i].fanout->candidates()) {
      const auto [found, is_new] = peer_of_instance.try_emplace(
          first + candidate, static_cast<int>(peers_.size()));
      if (is_new) peers_.push_back(first + candidate);
      targets_[i].peers.push_back(found->second);
    }
  }
}

void EngineState::Stop(StopScope scope, absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (stop_scope_ == StopScope::kNothing) stop_reason_ = std::string(reason);
  if (scope > stop_scope_) stop_scope_ = scope;
}

std::string EngineState::stop_reason() const {
  absl::MutexLock lock(&mutex_);
  return stop_reason_;
}

}  // namespace distbench
