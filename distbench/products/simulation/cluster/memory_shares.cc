#include "distbench/products/simulation/cluster/memory_shares.h"

#include <algorithm>
#include <set>

#include "distbench/engine/activity_pools/activities.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kPartsOfMemory = 5;  // one of them for samples

std::set<int> SendingServices(const config::Plan& plan) {
  std::set<int> services;
  for (const config::RpcPlan& rpc : plan.rpcs) {
    services.insert(rpc.client_services.begin(), rpc.client_services.end());
  }
  for (const config::ReplayTracePlan& trace : plan.replay_traces) {
    services.insert(trace.client_service);
  }
  return services;
}

}  // namespace

MemoryShares ShareMemory(const config::Plan& plan, int64_t memory_bytes) {
  const std::set<int> senders = SendingServices(plan);
  int64_t sender_count = 0;
  double wanted = 0;  // for recording, by all
  for (size_t i = 0; i < plan.services.size(); ++i) {
    const config::ServicePlan& service = plan.services[i];
    const bool sends = senders.count(static_cast<int>(i)) > 0;
    if (sends) sender_count += service.instance_count;
    const int64_t wanted_by_each =
        sends ? plan.recording_memory_bytes
              : engine::ActivityRecordingBytes(plan, service.first_instance);
    wanted += static_cast<double>(wanted_by_each) * service.instance_count;
  }
  const int64_t samples = memory_bytes / kPartsOfMemory;
  const auto recording = static_cast<double>(memory_bytes - samples);
  const double share = wanted <= recording ? 1 : recording / wanted;
  return {.recording_bytes = static_cast<int64_t>(
              share * static_cast<double>(plan.recording_memory_bytes)),
          .sample_bytes = samples / std::max<int64_t>(1, sender_count)};
}

}  // namespace distbench::simulation
