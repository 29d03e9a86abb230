// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/test_totals.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"
#include "google/protobuf/map.h"

namespace distbench::report {
namespace {

void AddFailures(const RpcStatistics& statistics, const ErrorDictionary& errors,
                 std::map<std::string, int64_t>& causes) {
  int64_t without_cause = statistics.failed_count();
  for (const auto& [error_index, count] : statistics.failures_by_error()) {
    base::SaturatingAddTo(causes[results::ErrorMessage(errors, error_index)],
                          count);
    base::SaturatingAddTo(without_cause, -count);
  }
  if (without_cause > 0) {
    base::SaturatingAddTo(causes[results::ErrorMessage(errors, 0)],
                          without_cause);
  }
}

void AddTraffic(const results::RpcLogView& view,
                const results::RpcCounts& counts, TestTotals& totals) {
  totals.pairs[{view.client, view.server}].Add(counts);
  InstanceTraffic& client = totals.instances[view.client];
  base::SaturatingAddTo(client.sent_bytes, counts.request_bytes);
  base::SaturatingAddTo(client.received_bytes, counts.response_bytes);
  InstanceTraffic& server = totals.instances[view.server];
  base::SaturatingAddTo(server.sent_bytes, counts.response_bytes);
  base::SaturatingAddTo(server.received_bytes, counts.request_bytes);
  totals.all.Add(counts);
}

void LeaveOut(const std::string& log, const absl::Status& problem,
              TestTotals& totals) {
  totals.damaged_logs.push_back(absl::StrCat(log, ": ", problem.message()));
}

void AddLog(const results::RpcLogView& view, TestTotals& totals) {
  const RpcStatistics& statistics = view.log.statistics();
  if (absl::Status status = totals.rpcs[view.rpc_name].Add(statistics);
      !status.ok()) {
    LeaveOut(
        absl::StrCat(view.rpc_name, " from ", view.client, " to ", view.server),
        status, totals);
    return;
  }
  AddTraffic(view, results::CountsOf(statistics), totals);
  ++totals.pair_count;
  if (statistics.has_service_time_moments()) ++totals.brief_pair_count;
  if (statistics.failed_count() > 0) {
    AddFailures(statistics, view.errors, totals.failures[view.rpc_name]);
  }
}

void AddPooled(const TestResult& result, const std::string& client,
               const ServicePerformanceLog& log, TestTotals& totals) {
  for (const auto& [rpc_index, statistics] : log.pooled_statistics()) {
    const std::string rpc = results::RpcName(result, rpc_index);
    if (absl::Status status = totals.rpcs[rpc].Add(statistics); !status.ok()) {
      LeaveOut(absl::StrCat(rpc, " from ", client), status, totals);
      continue;
    }
    const results::RpcCounts counts = results::CountsOf(statistics);
    if (CountsRpcs(statistics)) {
      totals.pairs[{client, kUnknownServer}].Add(counts);
    }
    totals.all.Add(counts);
    totals.duration_ns = std::max(totals.duration_ns, counts.duration_ns());
    base::SaturatingAddTo(totals.instances[client].sent_bytes,
                          counts.request_bytes);
    base::SaturatingAddTo(totals.instances[client].received_bytes,
                          counts.response_bytes);
    if (counts.failed_count > 0) {
      AddFailures(statistics, log.error_dictionary(), totals.failures[rpc]);
    }
  }
}

// A field of a client's log: statistics by the RPC's index.
template <typename Statistics>
using ByRpc = const google::protobuf::Map<int32_t, Statistics>& (
    ServicePerformanceLog::*)() const;

// Sets the sums over clients. `what` is the statistics in messages.
template <typename Statistics>
void AddUpClients(const TestResult& result, absl::string_view what,
                  ByRpc<Statistics> statistics_by_rpc,
                  std::map<std::string, Statistics>& sums, TestTotals& totals) {
  std::map<std::string, results::TallyOf<Statistics>> tallies;
  for (const auto* client :
       results::Sorted(result.service_logs().instance_logs())) {
    const auto& by_rpc = (client->second.*statistics_by_rpc)();
    for (const auto* statistics : results::Sorted(by_rpc)) {
      const std::string rpc = results::RpcName(result, statistics->first);
      const absl::Status added = tallies[rpc].Add(statistics->second);
      if (added.ok()) continue;
      LeaveOut(absl::StrCat(what, " of ", rpc, " from ", client->first), added,
               totals);
    }
  }
  for (const auto& [rpc, tally] : tallies) tally.Encode(sums[rpc]);
}

}  // namespace

bool CountsRpcs(const RpcStatistics& pooled) {
  return pooled.succeeded_count() > 0 || pooled.failed_count() > 0 ||
         pooled.warmup_count() > 0;
}

OfferedLoad TestTotals::load(const std::string& rpc) const {
  const auto found = offered.find(rpc);
  return found == offered.end() ? OfferedLoad() : found->second;
}

TestTotals AddUp(const TestResult& result) {
  TestTotals totals;
  for (const RpcSpec& rpc : result.traffic_config().rpc_descriptions()) {
    totals.rpcs[rpc.name()];
  }
  for (const RpcReplayTrace& trace :
       result.traffic_config().rpc_replay_traces()) {
    totals.rpcs[trace.name()];
  }
  results::ForEachRpcLog(
      result, [&](const results::RpcLogView& view) { AddLog(view, totals); });
  for (const auto& [client, log] : result.service_logs().instance_logs()) {
    AddPooled(result, client, log, totals);
  }
  AddUpClients(result, "attempts", &ServicePerformanceLog::policy_statistics,
               totals.attempts, totals);
  AddUpClients(result, "messages", &ServicePerformanceLog::stream_statistics,
               totals.streams, totals);
  AddUpClients(result, "offered load", &ServicePerformanceLog::offered_loads,
               totals.offered, totals);
  for (const auto& [pair, counts] : totals.pairs) {
    totals.duration_ns = std::max(totals.duration_ns, counts.duration_ns());
  }
  return totals;
}

stats::Outcomes ServiceTimeOf(const results::RpcTotals& rpc) {
  return {.latency_ns = rpc.service_time_ns,
          .failed_count = static_cast<uint64_t>(rpc.counts.failed_count)};
}

uint64_t OpenLoopFailures(const OfferedLoad& load, uint64_t response_count,
                          int64_t failed_count) {
  if (response_count == 0 && load.offered_count() == 0) return 0;
  const int64_t unsent = load.unsent_count();
  // What a lost process left may not belong together.
  const int64_t most = base::SaturatingAdd(failed_count, unsent);
  if (load.offered_count() == 0 || most < unsent) {
    return static_cast<uint64_t>(most);
  }
  return static_cast<uint64_t>(
      std::clamp(base::SaturatingSubtract(load.offered_count(),
                                          static_cast<int64_t>(response_count)),
                 unsent, most));
}

stats::Outcomes ResponseTimeOf(const TestTotals& totals,
                               const std::string& rpc) {
  const auto found = totals.rpcs.find(rpc);
  if (found == totals.rpcs.end()) return {};
  stats::Outcomes outcomes = {.latency_ns = found->second.response_time_ns};
  outcomes.failed_count = OpenLoopFailures(totals.load(rpc), outcomes.count(),
                                           found->second.counts.failed_count);
  return outcomes;
}

double PerSecond(double amount, int64_t duration_ns) {
  return duration_ns > 0 ? amount * 1e9 / static_cast<double>(duration_ns) : 0;
}

int64_t ActivityTotals::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

void ActivityTotals::Add(const ActivityLog& log) {
  ++instance_count;
  for (const ActivityMetric& metric : log.activity_metrics()) {
    int64_t& sum = metrics[metric.name()];
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                               static_cast<uint64_t>(metric.value_int()));
  }
  results::AddHistogram(log.duration_ns(), duration_ns).IgnoreError();
  results::AddHistogram(log.queueing_ns(), queueing_ns).IgnoreError();
}

int64_t DriverCounter(const TestResult& result, const std::string& name) {
  int64_t sum = 0;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const auto found = log.driver_counters().find(name);
    if (found != log.driver_counters().end()) {
      base::SaturatingAddTo(sum, found->second);
    }
  }
  return sum;
}

std::map<std::string, ActivityTotals> AddUpActivities(
    const TestResult& result) {
  std::map<std::string, ActivityTotals> totals;
  ForEachActivity(result,
                  [&](const std::string&, const std::string& name,
                      const ActivityLog& log) { totals[name].Add(log); });
  return totals;
}

void ForEachActivity(
    const TestResult& result,
    absl::FunctionRef<void(const std::string& instance,
                           const std::string& activity, const ActivityLog& log)>
        visit) {
  for (const auto* instance :
       results::Sorted(result.service_logs().instance_logs())) {
    for (const auto* activity :
         results::Sorted(instance->second.activity_logs())) {
      visit(instance->first, activity->first, activity->second);
    }
  }
}

}  // namespace distbench::report
