// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The services of a test, and the RPCs between them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

// Names of a service and of an RPC or replay trace.
using ServiceAndRpc = std::pair<std::string, std::string>;

// What the main list of each service sends, also by lists that it runs.
std::set<ServiceAndRpc> FindEntries(
    const DistributedSystemDescription& config) {
  const config::TestNames names(config);
  std::set<ServiceAndRpc> entries;
  for (const ServiceSpec& service : config.services()) {
    config::ForEachActionOf(
        config, names, service.name(), [&](const Action& action) {
          if (action.has_rpc_name()) {
            entries.insert({service.name(), action.rpc_name()});
          } else if (action.has_rpc_replay_trace_name()) {
            entries.insert({service.name(), action.rpc_replay_trace_name()});
          }
        });
  }
  return entries;
}

// ---- What was measured of RPCs, by their clients ----------------------------

struct RpcTraffic {
  results::RpcCounts counts;

  // RPCs that were due and never sent count as failed in response_time.
  stats::Outcomes service_time;
  stats::Outcomes response_time;  // empty in closed loops

  // Absent in closed loops, and of servers.
  std::optional<OfferedLoad> offered;

  // Response times if there are any, otherwise service times. Null if neither
  // is known of all RPCs, because there was no memory left for histograms.
  const stats::Outcomes* latency() const {
    const auto succeeded = static_cast<uint64_t>(counts.succeeded_count);
    if (service_time.latency_ns.count() < succeeded) return nullptr;
    if (response_time.count() > 0) return &response_time;
    return service_time.count() > 0 ? &service_time : nullptr;
  }
};

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

// The times over which rates of an RPC are, so that those of its parts add up
// to its own.
struct RateTimes {
  int64_t offered_ns = 0;  // OfferedNs()
  int64_t duration_ns = 0;
};

void DeriveTraffic(const RpcTraffic& measured, const RateTimes& times,
                   Report::Traffic& traffic) {
  const results::RpcCounts& counts = measured.counts;
  const OfferedLoad load = measured.offered.value_or(OfferedLoad());
  if (const auto offered = OfferedPerSecond(load, times.offered_ns)) {
    traffic.set_offered_per_second(*offered);
  }
  traffic.set_succeeded_per_second(
      PerSecond(counts.succeeded_count, times.duration_ns));
  traffic.set_succeeded(counts.succeeded_count);
  traffic.set_failed(counts.failed_count);
  traffic.set_unsent(load.unsent_count());
  const stats::Outcomes* latency = measured.latency();
  if (latency == nullptr) return;
  traffic.set_latency_count(static_cast<int64_t>(latency->count()));
  traffic.set_latency_failed(static_cast<int64_t>(latency->failed_count));
  SetTimes(*latency, *traffic.mutable_times());
  traffic.set_latency(latency == &measured.response_time ? "response"
                                                         : "service");
}

// What a report shows of an edge or an instance, and what its traffic is
// derived from when all of it is known.
template <typename Shown>
struct Measured {
  Shown shown = {};
  RpcTraffic traffic = {};
};
using Edge = Measured<Report::Edge>;
using Instance = Measured<Report::InstanceTable::Row>;

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

  // In the order of the RPCs. Includes RPCs that were never sent.
  std::vector<Edge> TakeEdges() {
    std::vector<Edge> edges =
        Take(edges_, [](const auto& key) { return key.first; });
    // Only a result without config lacks it.
    std::erase_if(edges,
                  [](const Edge& edge) { return edge.shown.server().empty(); });
    return edges;
  }

  // Sorted by name. Only those that sent or served RPCs.
  std::vector<Instance> TakeInstances() {
    return Take(instances_, [](const auto& key) { return std::get<1>(key); });
  }

 private:
  // `rpc_of` returns the RPC's index of a key.
  template <typename Key, typename Shown, typename RpcOf>
  std::vector<Measured<Shown>> Take(std::map<Key, Measured<Shown>>& by_key,
                                    RpcOf rpc_of) {
    std::vector<Measured<Shown>> all;
    for (auto& [key, each] : by_key) {
      CountFailures(each.traffic);
      DeriveTraffic(each.traffic, RateTimesOf(rpc_of(key)),
                    *each.shown.mutable_traffic());
      all.push_back(std::move(each));
    }
    return all;
  }

  // Found once for an RPC.
  const RateTimes& RateTimesOf(int rpc_index) {
    const auto [known, is_new] = times_.try_emplace(rpc_index);
    if (is_new) {
      const results::RpcCounts& counts = counts_[rpc_index];
      known->second = {.offered_ns = OfferedNs(result_, rpc_index, counts),
                       .duration_ns = counts.duration_ns()};
    }
    return known->second;
  }

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
    Edge& edge = EdgeOf(view.rpc_index, config::ServiceOf(view.client));
    if (edge.shown.server().empty()) {
      edge.shown.set_server(config::ServiceOf(view.server));
    }
    counts_[view.rpc_index].Add(totals.counts);
    Add(totals, edge.traffic);
    Add(totals, TrafficOf(view.client, view.rpc_index, "client"));
    Add(totals, TrafficOf(view.server, view.rpc_index, "server"));
  }

  // What is known of a client, but not of the servers that it called.
  void AddUnpaired(const std::string& client,
                   const ServicePerformanceLog& log) {
    for (const auto& [index, statistics] : log.pooled_statistics()) {
      results::RpcTotals totals;
      if (!totals.Add(statistics).ok()) continue;
      counts_[index].Add(totals.counts);
      Add(totals, EdgeOf(index, config::ServiceOf(client)).traffic);
      Add(totals, TrafficOf(client, index, "client"));
    }
    for (const auto& [index, load] : log.offered_loads()) {
      Add(load, EdgeOf(index, config::ServiceOf(client)).traffic);
      Add(load, TrafficOf(client, index, "client"));
    }
  }

  Edge& EdgeOf(int rpc_index, const std::string& client) {
    const auto [it, is_new] =
        edges_.try_emplace(std::make_pair(rpc_index, client));
    if (is_new) {
      Report::Edge& edge = it->second.shown;
      edge.set_rpc(results::RpcName(result_, rpc_index));
      edge.set_client(client);
      edge.set_server(servers_[rpc_index]);
      edge.set_is_entry(entries_.contains({client, edge.rpc()}));
    }
    return it->second;
  }

  // Of an instance: "client" or "server", in this order among its rows.
  RpcTraffic& TrafficOf(const std::string& instance, int rpc_index,
                        const std::string& role) {
    const auto [it, is_new] =
        instances_.try_emplace(std::make_tuple(instance, rpc_index, role));
    if (is_new) {
      Report::InstanceTable::Row& row = it->second.shown;
      row.set_instance(instance);
      row.set_service(config::ServiceOf(instance));
      row.set_rpc(results::RpcName(result_, rpc_index));
      row.set_role(role);
    }
    return it->second.traffic;
  }

  const TestResult& result_;
  const std::set<ServiceAndRpc> entries_;
  std::map<int, std::string> servers_;  // by RPC
  std::map<int, results::RpcCounts> counts_;
  std::map<int, RateTimes> times_;
  std::map<std::pair<int, std::string>, Edge> edges_;
  std::map<std::tuple<std::string, int, std::string>, Instance> instances_;
};

// ---- Services and their tiers -----------------------------------------------

// Those of the config first, in its order, with as many instances as
// configured; others with those that were measured.
void DeriveServices(const DistributedSystemDescription& config,
                    const std::vector<Instance>& instances,
                    Report::Topology& topology) {
  std::set<std::string> known;
  for (const ServiceSpec& spec : config.services()) {
    if (!known.insert(spec.name()).second) continue;
    Report::Service& service = *topology.add_services();
    service.set_name(spec.name());
    service.set_instances(spec.has_count() ? spec.count()
                                           : config::GridOf(spec).Count());
    const std::vector<std::string> addresses = config::OutsideAddresses(spec);
    service.mutable_external_addresses()->Assign(addresses.begin(),
                                                 addresses.end());
  }
  std::map<std::string, std::set<std::string>> measured;
  for (const Instance& each : instances) {
    measured[each.shown.service()].insert(each.shown.instance());
  }
  const auto add = [&](const std::string& name) {
    if (!known.insert(name).second) return;
    Report::Service& service = *topology.add_services();
    service.set_name(name);
    service.set_instances(static_cast<int64_t>(measured[name].size()));
  };
  for (const Report::Edge& edge : topology.edges()) {
    add(edge.client());
    add(edge.server());
  }
  for (const Instance& each : instances) add(each.shown.service());
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

void AssignTiers(Report::Topology& topology) {
  std::map<std::string, int> positions;
  for (const Report::Service& service : topology.services()) {
    positions.emplace(service.name(), static_cast<int>(positions.size()));
  }
  Calls calls(positions.size());
  // Services that start the traffic come first, so that cycles are cut where
  // they lead back to them.
  std::vector<int> starts;
  for (const Report::Edge& edge : topology.edges()) {
    calls[positions[edge.client()]].push_back(positions[edge.server()]);
    if (edge.is_entry()) starts.push_back(positions[edge.client()]);
  }
  for (int i = 0; i < topology.services_size(); ++i) starts.push_back(i);
  std::vector<bool> is_placed(calls.size());
  for (const int client : CallersFirst(calls, starts)) {
    is_placed[client] = true;
    for (const int server : calls[client]) {
      if (is_placed[server]) continue;
      Report::Service& callee = *topology.mutable_services(server);
      callee.set_tier(
          std::max(callee.tier(), topology.services(client).tier() + 1));
    }
  }
}

// ---- Instances, the worst first ---------------------------------------------

// -1 if it is unknown.
int64_t ValueAt(const RpcTraffic& traffic, double percent) {
  const stats::Outcomes* latency = traffic.latency();
  if (latency == nullptr) return -1;
  return ShownPercentile(*latency, percent).value_or(-1);
}

// Larger is worse.
using Badness = std::tuple<int64_t, int64_t, int64_t>;

Badness BadnessOf(const RpcTraffic& traffic) {
  return {ValueAt(traffic, 99), traffic.counts.failed_count,
          ValueAt(traffic, 50)};
}

void DeriveInstances(std::vector<Instance>& instances, int64_t max_rows,
                     Report::InstanceTable& table) {
  std::vector<std::pair<Badness, Instance*>> ranks;
  for (Instance& each : instances) {
    ranks.push_back({BadnessOf(each.traffic), &each});
  }
  absl::c_stable_sort(
      ranks, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [badness, instance] : ranks) {
    if (table.rows_size() == max_rows) break;
    *table.add_rows() = std::move(instance->shown);
  }
  table.set_rows_left_out(static_cast<int64_t>(instances.size()) -
                          table.rows_size());
}

}  // namespace

Report::Topology DeriveTopology(const TestResult& result,
                                int64_t max_instance_rows) {
  Traffic traffic(result);
  std::vector<Instance> instances = traffic.TakeInstances();
  Report::Topology topology;
  for (Edge& edge : traffic.TakeEdges()) {
    *topology.add_edges() = std::move(edge.shown);
  }
  DeriveServices(result.traffic_config(), instances, topology);
  AssignTiers(topology);
  DeriveInstances(instances, max_instance_rows, *topology.mutable_instances());
  return topology;
}

EntryTraffic EntryTrafficOf(const TestResult& result) {
  const std::vector<Edge> edges = Traffic(result).TakeEdges();
  const bool knows_lists = absl::c_any_of(
      edges, [](const Edge& edge) { return edge.shown.is_entry(); });
  EntryTraffic entries;
  for (const Edge& edge : edges) {
    if (knows_lists && !edge.shown.is_entry()) continue;
    if (knows_lists) entries.clients.insert(edge.shown.client());
    const results::RpcCounts& counts = edge.traffic.counts;
    entries.rpc_count += static_cast<double>(counts.succeeded_count) +
                         static_cast<double>(counts.failed_count) +
                         static_cast<double>(counts.warmup_count);
  }
  return entries;
}

}  // namespace distbench::report
