#include "distbench/report/measurements/topology.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

// Names of a service and of an RPC or replay trace.
using ServiceAndRpc = std::pair<std::string, std::string>;

// What the main list of each service sends, also by lists that it runs.
std::set<ServiceAndRpc> FindEntries(
    const DistributedSystemDescription& config) {
  std::map<std::string, const ActionList*> lists;
  for (const ActionList& list : config.action_lists()) {
    lists[list.name()] = &list;
  }
  std::map<std::string, const Action*> actions;
  for (const Action& action : config.actions()) {
    actions[action.name()] = &action;
  }
  std::set<ServiceAndRpc> entries;
  for (const ServiceSpec& service : config.services()) {
    std::vector<std::string> pending = {service.name()};
    std::set<std::string> seen;
    while (!pending.empty()) {
      const std::string name = pending.back();
      pending.pop_back();
      const auto list = lists.find(name);
      if (list == lists.end() || !seen.insert(name).second) continue;
      for (const std::string& action_name : list->second->action_names()) {
        const auto found = actions.find(action_name);
        if (found == actions.end()) continue;
        const Action& action = *found->second;
        if (action.has_rpc_name()) {
          entries.insert({service.name(), action.rpc_name()});
        } else if (action.has_rpc_replay_trace_name()) {
          entries.insert({service.name(), action.rpc_replay_trace_name()});
        } else if (action.has_action_list_name()) {
          pending.push_back(action.action_list_name());
        }
      }
    }
  }
  return entries;
}

void Add(const results::RpcTotals& totals, RpcTraffic& traffic) {
  traffic.counts.Add(totals.counts);
  traffic.service_time.latency_ns.Merge(totals.service_time_ns);
  traffic.response_time.latency_ns.Merge(totals.response_time_ns);
}

void Add(const OfferedLoad& load, RpcTraffic& traffic) {
  if (!traffic.offered) traffic.offered.emplace();
  results::MergeOfferedLoad(load, *traffic.offered).IgnoreError();
}

void CountFailures(RpcTraffic& traffic) {
  const int64_t failed = traffic.counts.failed_count;
  traffic.service_time.failed_count = static_cast<uint64_t>(failed);
  const OfferedLoad load = traffic.offered.value_or(OfferedLoad());
  traffic.response_time.failed_count =
      OpenLoopFailures(load, traffic.response_time.latency_ns.count(), failed);
}

// Adds up logs.
class Traffic {
 public:
  explicit Traffic(const TestResult& result)
      : result_(result), entries_(FindEntries(result.traffic_config())) {
    AddConfigured(result.traffic_config());
    results::ForEachRpcLog(
        result, [&](const results::RpcLogView& view) { AddLog(view); });
    for (const auto& [client, log] : result.service_logs().instance_logs()) {
      AddUnpaired(client, log);
    }
  }

  std::vector<TopologyEdge> TakeEdges() {
    std::vector<TopologyEdge> edges;
    for (auto& [key, edge] : edges_) {
      // Only a result without config lacks it.
      if (edge.server.empty()) continue;
      CountFailures(edge.traffic);
      edges.push_back(std::move(edge));
    }
    return edges;
  }

  std::vector<TopologyInstance> TakeInstances() {
    std::vector<TopologyInstance> instances;
    for (auto& [key, instance] : instances_) {
      CountFailures(instance.traffic);
      instances.push_back(std::move(instance));
    }
    return instances;
  }

 private:
  void AddConfigured(const DistributedSystemDescription& config) {
    int index = 0;
    for (const RpcSpec& rpc : config.rpc_descriptions()) {
      servers_[index] = rpc.server();
      for (const std::string& client : rpc.client()) EdgeOf(index, client);
      ++index;
    }
    for (const RpcReplayTrace& trace : config.rpc_replay_traces()) {
      servers_[index] = trace.server();
      EdgeOf(index, trace.client());
      ++index;
    }
  }

  void AddLog(const results::RpcLogView& view) {
    results::RpcTotals totals;
    if (!totals.Add(view.log.statistics()).ok()) return;
    TopologyEdge& edge = EdgeOf(view.rpc_index, config::ServiceOf(view.client));
    if (edge.server.empty()) edge.server = config::ServiceOf(view.server);
    Add(totals, edge.traffic);
    Add(totals, InstanceOf(view.client, view.rpc_index, false).traffic);
    Add(totals, InstanceOf(view.server, view.rpc_index, true).traffic);
  }

  // What is known of a client, but not of the servers that it called.
  void AddUnpaired(const std::string& client,
                   const ServicePerformanceLog& log) {
    for (const auto& [index, statistics] : log.pooled_statistics()) {
      results::RpcTotals totals;
      if (!totals.Add(statistics).ok()) continue;
      Add(totals, EdgeOf(index, config::ServiceOf(client)).traffic);
      Add(totals, InstanceOf(client, index, false).traffic);
    }
    for (const auto& [index, load] : log.offered_loads()) {
      Add(load, EdgeOf(index, config::ServiceOf(client)).traffic);
      Add(load, InstanceOf(client, index, false).traffic);
    }
  }

  TopologyEdge& EdgeOf(int rpc_index, const std::string& client) {
    const auto [it, is_new] =
        edges_.try_emplace(std::make_pair(rpc_index, client));
    TopologyEdge& edge = it->second;
    if (is_new) {
      edge.rpc = results::RpcName(result_, rpc_index);
      edge.client = client;
      edge.server = servers_[rpc_index];
      edge.is_entry = entries_.count({client, edge.rpc}) > 0;
    }
    return edge;
  }

  TopologyInstance& InstanceOf(const std::string& name, int rpc_index,
                               bool is_server) {
    const auto [it, is_new] =
        instances_.try_emplace(std::make_tuple(name, rpc_index, is_server));
    TopologyInstance& instance = it->second;
    if (is_new) {
      instance.instance = name;
      instance.service = config::ServiceOf(name);
      instance.rpc = results::RpcName(result_, rpc_index);
      instance.is_server = is_server;
    }
    return instance;
  }

  const TestResult& result_;
  const std::set<ServiceAndRpc> entries_;
  std::map<int, std::string> servers_;  // by RPC
  std::map<std::pair<int, std::string>, TopologyEdge> edges_;
  std::map<std::tuple<std::string, int, bool>, TopologyInstance> instances_;
};

std::vector<TopologyService> ListServices(
    const DistributedSystemDescription& config, const Topology& topology) {
  std::vector<TopologyService> services;
  std::set<std::string> known;
  for (const ServiceSpec& spec : config.services()) {
    if (!known.insert(spec.name()).second) continue;
    services.push_back({.name = spec.name(),
                        .instance_count = spec.has_count()
                                              ? spec.count()
                                              : config::GridOf(spec).Count(),
                        .external_addresses = config::OutsideAddresses(spec)});
  }
  std::map<std::string, std::set<std::string>> measured;
  for (const TopologyInstance& instance : topology.instances) {
    measured[instance.service].insert(instance.instance);
  }
  const auto add = [&](const std::string& name) {
    if (!known.insert(name).second) return;
    services.push_back(
        {.name = name,
         .instance_count = static_cast<int64_t>(measured[name].size())});
  };
  for (const TopologyEdge& edge : topology.edges) {
    add(edge.client);
    add(edge.server);
  }
  for (const TopologyInstance& instance : topology.instances) {
    add(instance.service);
  }
  return services;
}

// Positions of services, by the position of the service that calls them.
using Calls = std::vector<std::vector<int>>;

// Returns all services: each before those that it calls, unless the call closes
// a cycle. That is the reverse postorder of a depth-first search, which starts
// at each of `starts` in turn.
std::vector<int> CallersFirst(const Calls& calls,
                              const std::vector<int>& starts) {
  std::vector<int> order;
  std::vector<bool> seen(calls.size());
  std::vector<size_t> next_call(calls.size());
  for (const int start : starts) {
    if (seen[start]) continue;
    std::vector<int> path = {start};
    seen[start] = true;
    while (!path.empty()) {
      const int service = path.back();
      if (next_call[service] == calls[service].size()) {
        order.push_back(service);
        path.pop_back();
        continue;
      }
      const int server = calls[service][next_call[service]++];
      if (seen[server]) continue;
      seen[server] = true;
      path.push_back(server);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void AssignTiers(const std::vector<TopologyEdge>& edges,
                 std::vector<TopologyService>& services) {
  std::map<std::string, int> positions;
  for (size_t i = 0; i < services.size(); ++i) {
    positions[services[i].name] = static_cast<int>(i);
  }
  Calls calls(services.size());
  // Services that start the traffic come first, so that cycles are cut where
  // they lead back to them.
  std::vector<int> starts;
  for (const TopologyEdge& edge : edges) {
    calls[positions[edge.client]].push_back(positions[edge.server]);
    if (edge.is_entry) starts.push_back(positions[edge.client]);
  }
  for (size_t i = 0; i < services.size(); ++i) {
    starts.push_back(static_cast<int>(i));
  }
  const std::vector<int> order = CallersFirst(calls, starts);
  std::vector<bool> is_placed(services.size());
  for (const int client : order) {
    is_placed[client] = true;
    for (const int server : calls[client]) {
      if (is_placed[server]) continue;
      services[server].tier =
          std::max(services[server].tier, services[client].tier + 1);
    }
  }
}

}  // namespace

const stats::Outcomes* RpcTraffic::latency() const {
  const auto succeeded = static_cast<uint64_t>(counts.succeeded_count);
  if (service_time.latency_ns.count() < succeeded) return nullptr;
  if (response_time.count() > 0) return &response_time;
  return service_time.count() > 0 ? &service_time : nullptr;
}

Topology FindTopology(const TestResult& result) {
  Traffic traffic(result);
  Topology topology;
  topology.edges = traffic.TakeEdges();
  topology.instances = traffic.TakeInstances();
  topology.services = ListServices(result.traffic_config(), topology);
  AssignTiers(topology.edges, topology.services);
  return topology;
}

}  // namespace distbench::report
