// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/shares.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "distbench/engine/activity_pools/activities.h"

namespace distbench::simulation {
namespace {

using Calls = std::vector<std::vector<int>>;

// By host: those that it calls, and those that call it.
Calls InBothDirections(const Calls& called_by) {
  Calls neighbours = called_by;
  for (size_t i = 0; i < called_by.size(); ++i) {
    for (const int called : called_by[i]) {
      neighbours[called].push_back(static_cast<int>(i));
    }
  }
  return neighbours;
}

// Depth first, so that hosts follow those that they have to do with.
std::vector<int> InOrderOfCalls(const Calls& neighbours) {
  std::vector<bool> is_there(neighbours.size(), false);
  std::vector<int> order;
  std::vector<int> next;
  for (size_t first = 0; first < neighbours.size(); ++first) {
    next.push_back(static_cast<int>(first));
    while (!next.empty()) {
      const int host = next.back();
      next.pop_back();
      if (is_there[host]) continue;
      is_there[host] = true;
      order.push_back(host);
      const std::vector<int>& others = neighbours[host];
      std::copy_if(others.rbegin(), others.rend(), std::back_inserter(next),
                   [&](int other) { return !is_there[other]; });
    }
  }
  return order;
}

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

std::vector<int> HostThreads(const Calls& called_by, int threads) {
  const Calls neighbours = InBothDirections(called_by);
  // How often it calls or is called, and one, so that all have some.
  const auto weight_of = [&](int host) {
    return static_cast<int64_t>(neighbours[host].size()) + 1;
  };
  int64_t total = 0;
  for (size_t i = 0; i < neighbours.size(); ++i) total += weight_of(i);
  std::vector<int> thread_of_host(neighbours.size());
  int64_t before = 0;
  for (const int host : InOrderOfCalls(neighbours)) {
    // By the middle of its share, which is less than the total.
    const int64_t middle = before + weight_of(host) / 2;
    thread_of_host[host] = static_cast<int>(middle * threads / total);
    before += weight_of(host);
  }
  return thread_of_host;
}

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
