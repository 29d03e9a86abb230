// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/inbox.h"

#include "distbench/engine/routes/fanout.h"

namespace distbench::engine {

Inbox::Inbox(const config::Plan& plan, int instance)
    : boxes_(plan.rpcs.size()) {
  for (const config::ListPlan& list : plan.lists) {
    for (const config::ActionPlan& action : list.actions) {
      if (action.kind != config::ActionPlan::Kind::kReceive) continue;
      const config::RpcPlan& rpc = plan.rpcs[action.target];
      std::unique_ptr<Box>& box = boxes_[action.target];
      if (box != nullptr ||
          rpc.server_service != plan.instances[instance].service) {
        continue;
      }
      box = std::make_unique<Box>(IsCalledByAnother(plan, rpc, instance));
    }
  }
}

bool Inbox::TryReceive(int rpc, Receiver& receiver) {
  Box& box = *boxes_[rpc];
  if (!box.is_called) return true;
  absl::MutexLock lock(&box.mutex);
  if (box.answered > 0) {
    --box.answered;
    return true;
  }
  receiver.queued = true;
  box.queue.Push(receiver);
  return false;
}

bool Inbox::StopWaiting(int rpc, Receiver& receiver) {
  Box& box = *boxes_[rpc];
  absl::MutexLock lock(&box.mutex);
  if (!receiver.queued) return false;
  receiver.queued = false;
  box.queue.Remove(receiver);
  return true;
}

Receiver* Inbox::Add(int rpc) {
  Box& box = *boxes_[rpc];
  absl::MutexLock lock(&box.mutex);
  Receiver* const first = box.queue.front();
  if (first == nullptr) {
    ++box.answered;
    return nullptr;
  }
  first->queued = false;
  box.queue.Remove(*first);
  return first;
}

}  // namespace distbench::engine
