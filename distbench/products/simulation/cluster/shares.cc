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

// How often each host calls or is called, and one, so that all have some.
std::vector<int64_t> Weights(const Calls& called_by) {
  std::vector<int64_t> weights(called_by.size(), 1);
  for (size_t i = 0; i < called_by.size(); ++i) {
    weights[i] += static_cast<int64_t>(called_by[i].size());
    for (const int called : called_by[i]) ++weights[called];
  }
  return weights;
}

// Hosts that nobody calls, before others: they begin what others continue.
std::vector<int> CallersFirst(const Calls& called_by) {
  std::vector<bool> is_called(called_by.size(), false);
  for (const auto& called : called_by) {
    for (const int host : called) is_called[host] = true;
  }
  std::vector<int> hosts(called_by.size());
  for (size_t i = 0; i < hosts.size(); ++i) hosts[i] = static_cast<int>(i);
  std::stable_partition(hosts.begin(), hosts.end(),
                        [&](int host) { return !is_called[host]; });
  return hosts;
}

// Depth first.
std::vector<int> InOrderOfCalls(const Calls& called_by) {
  std::vector<bool> is_there(called_by.size(), false);
  std::vector<int> order;
  std::vector<int> next;
  for (const int first : CallersFirst(called_by)) {
    next.push_back(first);
    while (!next.empty()) {
      const int host = next.back();
      next.pop_back();
      if (is_there[host]) continue;
      is_there[host] = true;
      order.push_back(host);
      const std::vector<int>& called = called_by[host];
      std::copy_if(called.rbegin(), called.rend(), std::back_inserter(next),
                   [&](int other) { return !is_there[other]; });
    }
  }
  return order;
}

}  // namespace

std::vector<int> HostThreads(const Calls& called_by, int threads) {
  const std::vector<int64_t> weights = Weights(called_by);
  int64_t total = 0;
  for (const int64_t weight : weights) total += weight;
  std::vector<int> thread_of_host(called_by.size());
  int64_t before = 0;
  for (const int host : InOrderOfCalls(called_by)) {
    // By the middle of its share, which is less than the total.
    const int64_t middle = before + weights[host] / 2;
    thread_of_host[host] = static_cast<int>(middle * threads / total);
    before += weights[host];
  }
  return thread_of_host;
}

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
