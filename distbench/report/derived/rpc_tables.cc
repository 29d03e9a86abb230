// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rows of RPCs, of their policies, and of the faults that servers had.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/derived/table_rows.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

Report::RpcTable::Row RpcRow(const Report::Rpc& rpc) {
  Report::RpcTable::Row row;
  row.set_rpc(rpc.name());
  Report::Counts& counts = *row.mutable_counts();
  CopyByName(rpc, counts);
  counts.set_duration_s(base::ToSeconds(rpc.duration_ns()));
  if (rpc.has_offered_load()) {
    row.set_offered(rpc.offered_load().offered_count());
    row.set_unsent(rpc.offered_load().unsent_count());
    row.set_held_back(rpc.offered_load().held_back_count());
  }
  row.set_dropped_samples(rpc.dropped_sample_count());
  SetTimes(rpc.service_time(), *row.mutable_service());
  SetTimes(rpc.response_time(), *row.mutable_response());
  SetTimes(rpc.lateness(), *row.mutable_lateness());
  SetFigure(FailedAbovePercent(rpc.service_time().count(),
                               rpc.service_time().failed_count()),
            "service_failed_above_percent", "", row);
  SetFigure(FailedAbovePercent(rpc.response_time().count(),
                               rpc.response_time().failed_count()),
            "response_failed_above_percent", "", row);
  if (rpc.has_wire_time()) {
    SetTimes(rpc.wire_time(), *row.mutable_wire());
    row.set_wire_stamped(rpc.wire_time().count());
    row.set_wire_shared(rpc.wire_shared_count());
  }
  return row;
}

}  // namespace

void ListRpcRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    Report::RpcTable::Row row = RpcRow(DeriveRpc(rpc));
    sink(row);
  });
}

void ListPercentiles(const TestResult& result, RowSink sink) {
  ForEachRpc(result, kMeasuredIntervals, [&](const RpcMeasurements& measured) {
    const Report::Rpc rpc = DeriveRpc(measured);
    const auto list = [&](const char* name, const Report::Latency& latency) {
      for (const Report::Percentile& percentile : latency.percentiles()) {
        Report::PercentileTable::Row row;
        row.set_rpc(rpc.name());
        row.set_latency(name);
        *row.mutable_percentile() = percentile;
        sink(row);
      }
    };
    list("service", rpc.service_time());
    list("response", rpc.response_time());
    list("lateness", rpc.lateness());
    list("wire", rpc.wire_time());
  });
}

namespace {

void ListParts(const std::string& rpc, const std::vector<NamedTimes>& parts,
               RowSink sink) {
  for (const NamedTimes& part : parts) {
    Report::PartRow row;
    row.set_rpc(rpc);
    row.set_part(std::string(part.name));
    row.set_count(static_cast<int64_t>(part.times_ns.count()));
    SetTimes(part.times_ns, *row.mutable_times());
    sink(row);
  }
}

}  // namespace

void ListTimeParts(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    ListParts(rpc.name, TimePartsOf(rpc.totals), sink);
  });
}

namespace {

// Whether any client has such statistics, which to add up takes time.
template <typename StatisticsOf>
bool AnyClientHas(const TestResult& result, StatisticsOf statistics_of) {
  return absl::c_any_of(result.service_logs().instance_logs(),
                        [&](const auto& client) {
                          return !(client.second.*statistics_of)().empty();
                        });
}

}  // namespace

void ListStreams(const TestResult& result, RowSink sink) {
  if (!AnyClientHas(result, &ServicePerformanceLog::stream_statistics)) return;
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const auto streams = totals.streams.find(rpc);
    if (streams == totals.streams.end()) continue;
    ListParts(rpc, StreamTimesOf(streams->second), sink);
  }
}

namespace {

// `duration_ns` is that of the RPC, so that the rates of its pairs add up to
// its own.
void FillPeer(const results::RpcTotals& totals, int64_t duration_ns,
              Report::PeerTable::Row& row) {
  const results::RpcCounts& counts = totals.counts;
  const stats::RunningMoments& service = totals.moments.service_time_ns;
  const stats::RunningMoments& response = totals.moments.response_time_ns;
  const bool is_open_loop =
      totals.response_time_ns.count() > 0 || response.count > 0;
  const uint64_t failed_count = counts.failed_count;
  Report::Counts& shown = *row.mutable_counts();
  shown.set_succeeded(counts.succeeded_count);
  shown.set_failed(counts.failed_count);
  shown.set_warmup(counts.warmup_count);
  shown.set_request_bytes(counts.request_bytes);
  shown.set_response_bytes(counts.response_bytes);
  shown.set_duration_s(base::ToSeconds(duration_ns));
  shown.set_per_second(PerSecond(counts.succeeded_count, duration_ns));
  SetTimes({totals.service_time_ns, failed_count}, *row.mutable_service(),
           service);
  SetTimes({totals.response_time_ns, is_open_loop ? failed_count : 0},
           *row.mutable_response(), response);
  using results::TimePart;
  SetTimes(TimesOf(totals, TimePart::kNetwork), *row.mutable_network());
  SetTimes(TimesOf(totals, TimePart::kServerQueue),
           *row.mutable_server_queue());
  SetTimes(TimesOf(totals, TimePart::kServerHandler),
           *row.mutable_server_handler());
  SetTimes(TimesOf(totals, TimePart::kWire), *row.mutable_wire());
  SetFigure(
      FailedAbovePercent(counts.succeeded_count + failed_count, failed_count),
      "failed_above_percent", "", row);
}

}  // namespace

void ListPeers(const TestResult& result, RowSink sink) {
  const TestTotals totals = AddUp(result);
  // Rows are many, and keep the memory of those before them.
  Report::PeerTable::Row row;
  const auto list = [&](const std::string& client, const std::string& server,
                        const std::string& rpc,
                        const RpcStatistics& statistics) {
    results::RpcTotals pair;
    // Inconsistent statistics are left out, and a finding says so.
    if (!pair.Add(statistics).ok()) return;
    row.Clear();
    row.set_client(client);
    row.set_server(server);
    row.set_rpc(rpc);
    FillPeer(pair, totals.rpcs.at(rpc).counts.duration_ns(), row);
    sink(row);
  };
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    list(view.client, view.server, view.rpc_name, view.log.statistics());
  });
  for (const auto* client :
       results::Sorted(result.service_logs().instance_logs())) {
    for (const auto* pooled :
         results::Sorted(client->second.pooled_statistics())) {
      if (!CountsRpcs(pooled->second)) continue;
      list(client->first, kUnknownServer,
           results::RpcName(result, pooled->first), pooled->second);
    }
  }
}

void ListSeries(const std::string& rpc, const RpcSeries& series, RowSink sink) {
  const bool is_open_loop = IsOpenLoop(series);
  for (const auto& [index, interval] : series.intervals) {
    const uint64_t failed_count = interval.failed;
    const bool has_response_times = interval.response_time_ns.count() > 0;
    Report::SecondTable::Row row;
    row.set_rpc(rpc);
    row.set_start_timestamp_ns(index * series.interval_ns);
    row.set_duration_s(base::ToSeconds(series.interval_ns));
    if (is_open_loop) row.set_offered(interval.offered);
    row.set_sent(interval.sent);
    row.set_succeeded(interval.succeeded);
    row.set_failed(interval.failed);
    row.set_warmup(interval.warmup);
    row.set_request_bytes(interval.request_bytes);
    row.set_response_bytes(interval.response_bytes);
    SetTimes({interval.service_time_ns, failed_count}, *row.mutable_service());
    SetTimes({interval.response_time_ns, has_response_times ? failed_count : 0},
             *row.mutable_response());
    SetFigure(
        FailedAbovePercent(interval.service_time_ns.count() + failed_count,
                           failed_count),
        "failed_above_percent", "", row);
    sink(row);
  }
}

void ListSeconds(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    ListSeries(results::RpcName(result, rpc_index),
               CollectSeries(result, rpc_index), sink);
  }
}

void ListSamples(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    Report::SampleTable::Row row;
    const auto list = [&](const RpcSample& sample) {
      row.Clear();
      row.set_client(view.client);
      row.set_server(view.server);
      row.set_rpc(view.rpc_name);
      CopyByName(sample, row);
    };
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      list(sample);
      sink(row);
    }
    for (const RpcSample& sample : view.log.failed_rpc_samples()) {
      list(sample);
      row.set_error(results::ErrorMessage(view.errors, sample.error_index()));
      sink(row);
    }
  });
}

// ---- Policies, faults, and what became of the goodput -----------------------

namespace {

// Without an open loop, nothing is offered. What was offered and never sent is
// not sent.
void SetLoads(const RpcMeasurements& rpc, int64_t request_count,
              Report::PolicyTable::Row& row) {
  if (rpc.offered_per_second) {
    row.set_offered_per_second(*rpc.offered_per_second);
  }
  row.set_sent_per_second(PerSecond(request_count, rpc.measured_ns));
  row.set_goodput_per_second(rpc.goodput_per_second());
}

Report::PolicyTable::Row PolicyRow(const RpcMeasurements& rpc,
                                   const PolicyStatistics& attempts) {
  Report::PolicyTable::Row row;
  row.set_rpc(rpc.name);
  CopyByName(attempts, row);
  if (const auto amplification = Amplification(attempts)) {
    row.set_amplification(*amplification);
  }
  if (const auto wasted =
          WastedShare(attempts, rpc.totals.counts.succeeded_count)) {
    row.set_wasted(*wasted);
  }
  SetLoads(rpc, attempts.request_count(), row);
  SetTimes(results::HistogramOf(attempts.attempt_time_ns()),
           *row.mutable_attempt());
  SetTimes(results::HistogramOf(attempts.quorum_time_ns()),
           *row.mutable_quorum());
  const ValueMoments& limit = attempts.concurrency_limit();
  if (limit.count() > 0) {
    row.set_mean_concurrency_limit(limit.sum() /
                                   static_cast<double>(limit.count()));
    row.set_min_concurrency_limit(limit.min());
    row.set_max_concurrency_limit(limit.max());
  }
  return row;
}

}  // namespace

void ListPolicies(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    if (!rpc.attempts) return;
    Report::PolicyTable::Row row = PolicyRow(rpc, *rpc.attempts);
    sink(row);
  });
}

namespace {

void SetFaultTimes(const FaultLog& log, Report::FaultTable::Row& row) {
  const std::vector<FaultSpan> times = TimesOf(log);
  row.set_times(std::ssize(times));
  int64_t sum_ns = 0;
  for (const FaultSpan& span : times) {
    base::SaturatingAddTo(sum_ns, span.end_ns - span.begin_ns);
    row.set_last_end_timestamp_ns(
        std::max<int64_t>(row.last_end_timestamp_ns(), span.end_ns));
  }
  if (!times.empty()) row.set_first_begin_timestamp_ns(times[0].begin_ns);
  row.set_in_effect_s(base::ToSeconds(sum_ns));
}

}  // namespace

void ListFaults(const TestResult& result, RowSink sink) {
  for (const auto* instance :
       results::Sorted(result.service_logs().instance_logs())) {
    for (const auto* fault : results::Sorted(instance->second.fault_logs())) {
      Report::FaultTable::Row row;
      row.set_instance(instance->first);
      row.set_fault(fault->first);
      CopyByName(fault->second, row);
      SetFaultTimes(fault->second, row);
      sink(row);
    }
  }
}

void ListRecoveries(const TestResult& result, RowSink sink) {
  for (const Recovery& recovery : RecoveriesOf(result)) {
    Report::RecoveryTable::Row row;
    row.set_fault(recovery.window.fault);
    row.set_begin_timestamp_ns(recovery.window.begin_ns);
    row.set_end_timestamp_ns(recovery.window.end_ns);
    row.set_rpc(recovery.rpc);
    row.set_outcome(std::string(RecoveryOutcomeName(recovery.outcome)));
    if (recovery.after_s) row.set_recovered_after_s(*recovery.after_s);
    row.set_observed_s(recovery.observed_s);
    if (recovery.before_per_second) {
      row.set_goodput_before_per_second(*recovery.before_per_second);
    }
    sink(row);
  }
}

// Of other RPCs, the table "seconds" tells as much.
void ListGoodput(const TestResult& result, RowSink sink) {
  const bool has_faults = !FaultWindowsOf(result).empty();
  if (!has_faults &&
      !AnyClientHas(result, &ServicePerformanceLog::policy_statistics)) {
    return;
  }
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const bool has_policy = totals.attempts.contains(rpc);
    if (!has_policy && !has_faults) continue;
    const LoadCurve curve = LoadCurveOf(result, rpc_index);
    for (const LoadInterval& interval : curve.intervals) {
      Report::GoodputTable::Row row;
      row.set_rpc(rpc);
      row.set_start_timestamp_ns(interval.begin_ns);
      row.set_duration_s(base::ToSeconds(curve.interval_ns));
      if (curve.is_open_loop) row.set_offered(interval.offered);
      row.set_sent(interval.sent);
      row.set_goodput(interval.goodput);
      if (has_policy) row.set_attempts(interval.attempts);
      sink(row);
    }
  }
}

}  // namespace distbench::report
