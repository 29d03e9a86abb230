#include "distbench/simulation/cluster/memory_shares.h"

#include <algorithm>
#include <set>

namespace distbench {
namespace {

constexpr int64_t kPartsOfMemory = 5;  // one of them for samples

int64_t SenderCount(const Plan& plan) {
  std::set<int> services;
  for (const RpcPlan& rpc : plan.rpcs) {
    services.insert(rpc.client_services.begin(), rpc.client_services.end());
  }
  for (const ReplayTracePlan& trace : plan.replay_traces) {
    services.insert(trace.client_service);
  }
  int64_t count = 0;
  for (const int service : services) {
    count += plan.services[service].instance_count;
  }
  return std::max<int64_t>(1, count);
}

}  // namespace

MemoryShares ShareMemory(const Plan& plan, int64_t memory_bytes) {
  const int64_t senders = SenderCount(plan);
  const int64_t samples = memory_bytes / kPartsOfMemory;
  return {
      .recording_bytes = std::min(plan.recording_memory_bytes,
                                  (memory_bytes - samples) / senders),
      .sample_bytes = std::min(plan.sample_memory_bytes, samples / senders)};
}

}  // namespace distbench
