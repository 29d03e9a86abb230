// RPCs, and the services between which they are.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

// Enough for smooth curves on a screen.
constexpr int kPointsPerHalving = 24;

Report::Percentile DerivePercentile(const Percentile& estimate) {
  const auto is_failed = [](const std::optional<int64_t>& value) {
    return value == stats::Outcomes::kFailed;
  };
  const std::optional<int64_t>& lower = estimate.interval.lower;
  const std::optional<int64_t>& upper = estimate.interval.upper;
  Report::Percentile percentile;
  percentile.set_percentile(estimate.percent);
  percentile.set_failed(is_failed(estimate.value_ns));
  percentile.set_lower_failed(is_failed(lower));
  percentile.set_upper_failed(is_failed(upper));
  if (!percentile.failed()) percentile.set_value_ns(estimate.value_ns);
  if (lower && !percentile.lower_failed()) percentile.set_lower_ns(*lower);
  if (upper && !percentile.upper_failed()) percentile.set_upper_ns(*upper);
  using Method = stats::QuantileInterval::Method;
  percentile.set_method(estimate.interval.method == Method::kBlocks
                            ? "blocks"
                            : "order_statistics");
  return percentile;
}

// Nothing of no RPCs.
void SetLatency(const stats::Outcomes& outcomes,
                const std::vector<stats::Outcomes>& blocks,
                Report::Latency* (Report::Rpc::*add)(), Report::Rpc& rpc) {
  if (outcomes.count() == 0) return;
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  Report::Latency& latency = *(rpc.*add)();
  latency.set_count(static_cast<int64_t>(outcomes.count()));
  latency.set_failed_count(static_cast<int64_t>(outcomes.failed_count));
  latency.set_overflow_count(static_cast<int64_t>(latency_ns.overflow_count()));
  if (latency_ns.count() > 0) {
    latency.set_min_ns(latency_ns.min());
    latency.set_mean_ns(latency_ns.mean());
    latency.set_standard_deviation_ns(latency_ns.standard_deviation());
    latency.set_max_ns(latency_ns.max());
  }
  for (const Percentile& estimate : EstimatePercentiles(outcomes, blocks)) {
    *latency.add_percentiles() = DerivePercentile(estimate);
  }
  for (const CurvePoint& point :
       PercentileCurve(latency_ns, kPointsPerHalving)) {
    Report::Point& added = *latency.add_distribution();
    added.set_value_ns(point.value);
    added.set_count_at_most(static_cast<int64_t>(point.count_at_most));
  }
}

}  // namespace

Report::Rpc DeriveRpc(const RpcMeasurements& measured) {
  const results::RpcCounts& counts = measured.totals.counts;
  Report::Rpc rpc;
  rpc.set_name(measured.name);
  SetCounts(counts, rpc);
  rpc.set_dropped_sample_count(counts.dropped_sample_count);
  rpc.set_duration_ns(counts.duration_ns());
  rpc.set_per_second(PerSecond(counts.succeeded_count, counts.duration_ns()));
  if (measured.offered) {
    CopyByName(*measured.offered, *rpc.mutable_offered_load());
  }
  if (measured.streams) CopyByName(*measured.streams, *rpc.mutable_streams());
  for (const auto& [cause, count] : measured.failures) {
    Report::Failures& failures = *rpc.add_failures();
    failures.set_cause(cause);
    failures.set_count(count);
  }
  SetLatency(measured.service_time,
             LatencyBlocks(measured.series, LatencyKind::kService),
             &Report::Rpc::mutable_service_time, rpc);
  SetLatency(measured.response_time,
             LatencyBlocks(measured.series, LatencyKind::kResponse),
             &Report::Rpc::mutable_response_time, rpc);
  SetLatency({.latency_ns = measured.totals.lateness_ns}, {},
             &Report::Rpc::mutable_lateness, rpc);
  rpc.set_series_left_out(measured.series.left_out_count);
  if (measured.traffic) {
    rpc.set_start_timestamp_ns(measured.traffic->start_ns);
    rpc.set_end_timestamp_ns(measured.traffic->end_ns);
  }
  return rpc;
}

// ---- Topology ---------------------------------------------------------------

namespace {

void DeriveTraffic(const RpcTraffic& measured, Report::Traffic& traffic) {
  const results::RpcCounts& counts = measured.counts;
  const int64_t duration_ns = counts.duration_ns();
  const OfferedLoad load = measured.offered.value_or(OfferedLoad());
  if (load.offered_count() > 0 && duration_ns > 0) {
    traffic.set_offered_per_second(
        PerSecond(load.offered_count(), duration_ns));
  }
  traffic.set_succeeded_per_second(
      PerSecond(counts.succeeded_count, duration_ns));
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

// -1 if it is unknown.
int64_t ValueAt(const RpcTraffic& traffic, double quantile) {
  const stats::Outcomes* latency = traffic.latency();
  if (latency == nullptr ||
      !stats::SupportsQuantile(latency->count(), quantile)) {
    return -1;
  }
  return latency->ValueAtQuantile(quantile);
}

// Larger is worse.
using Badness = std::tuple<int64_t, int64_t, int64_t>;

Badness BadnessOf(const RpcTraffic& traffic) {
  return {ValueAt(traffic, 0.99), traffic.counts.failed_count,
          ValueAt(traffic, 0.5)};
}

std::vector<const TopologyInstance*> WorstFirst(
    const std::vector<TopologyInstance>& instances) {
  std::vector<std::pair<Badness, const TopologyInstance*>> ranks;
  for (const TopologyInstance& instance : instances) {
    ranks.push_back({BadnessOf(instance.traffic), &instance});
  }
  std::stable_sort(
      ranks.begin(), ranks.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const TopologyInstance*> sorted;
  for (const auto& [badness, instance] : ranks) sorted.push_back(instance);
  return sorted;
}

void DeriveInstances(const std::vector<TopologyInstance>& instances,
                     int64_t max_rows, Report::InstanceTable& table) {
  for (const TopologyInstance* instance : WorstFirst(instances)) {
    if (table.rows_size() == max_rows) break;
    Report::InstanceTable::Row& row = *table.add_rows();
    row.set_instance(instance->instance);
    row.set_service(instance->service);
    row.set_rpc(instance->rpc);
    row.set_role(instance->is_server ? "server" : "client");
    DeriveTraffic(instance->traffic, *row.mutable_traffic());
  }
  table.set_rows_left_out(static_cast<int64_t>(instances.size()) -
                          table.rows_size());
}

}  // namespace

Report::Topology DeriveTopology(const TestResult& result,
                                int64_t max_instance_rows) {
  const Topology found = FindTopology(result);
  Report::Topology topology;
  for (const TopologyService& service : found.services) {
    Report::Service& added = *topology.add_services();
    added.set_name(service.name);
    added.set_instances(service.instance_count);
    added.set_tier(service.tier);
    added.mutable_external_addresses()->Assign(
        service.external_addresses.begin(), service.external_addresses.end());
  }
  for (const TopologyEdge& edge : found.edges) {
    Report::Edge& added = *topology.add_edges();
    added.set_rpc(edge.rpc);
    added.set_client(edge.client);
    added.set_server(edge.server);
    added.set_is_entry(edge.is_entry);
    DeriveTraffic(edge.traffic, *added.mutable_traffic());
  }
  DeriveInstances(found.instances, max_instance_rows,
                  *topology.mutable_instances());
  return topology;
}

}  // namespace distbench::report
