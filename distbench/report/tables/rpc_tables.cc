// The tables of RPCs, of their policies, and of the faults that servers had.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/recovery.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

// Of an RPC over all its clients and servers, of one of its parts, and of one
// pair of instances.
constexpr TimeFigure kRpcFigures[] = {
    figures::kMin,   figures::kMean,   figures::kP50, figures::kP75,
    figures::kP90,   figures::kP95,    figures::kP99, figures::kP999,
    figures::kP9999, figures::kP99999, figures::kMax};
constexpr TimeFigure kPartFigures[] = {
    figures::kMean, figures::kP50, figures::kP90, figures::kP99, figures::kMax};
constexpr TimeFigure kPairFigures[] = {figures::kMean, figures::kP50,
                                       figures::kP99, figures::kMax};

void AddCounts(const results::RpcCounts& counts, RowWriter& row) {
  row.Add("succeeded", counts.succeeded_count);
  row.Add("failed", counts.failed_count);
  row.Add("warmup", counts.warmup_count);
  row.Add("request_bytes", counts.request_bytes);
  row.Add("response_bytes", counts.response_bytes);
  row.Add("duration_s", SecondsCell(counts.duration_ns()));
  row.Add("per_second", PerSecond(static_cast<double>(counts.succeeded_count),
                                  counts.duration_ns()));
}

void WriteRpc(RowWriter& row, const RpcMeasurements& rpc) {
  const results::RpcCounts& counts = rpc.totals.counts;
  const bool is_open_loop = rpc.offered.has_value();
  const OfferedLoad load = rpc.offered.value_or(OfferedLoad());
  row.Add("rpc", rpc.name);
  AddCounts(counts, row);
  row.Add("offered", OptionalCell(is_open_loop, load.offered_count()));
  row.Add("unsent", OptionalCell(is_open_loop, load.unsent_count()));
  row.Add("held_back", OptionalCell(is_open_loop, load.held_back_count()));
  row.Add("dropped_samples", counts.dropped_sample_count);
  row.AddTimes("service", rpc.service_time, kRpcFigures);
  row.AddTimes("response", rpc.response_time, kRpcFigures);
  row.AddTimes("lateness", rpc.totals.lateness_ns, kRpcFigures);
}

constexpr int64_t kAllIntervals = std::numeric_limits<int64_t>::max();

void ListRpcRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1,
             [&](const RpcMeasurements& rpc) { sink(RowOf(WriteRpc, rpc)); });
}

Cell BoundCell(const std::optional<int64_t>& bound) {
  if (!bound) return {};
  return OutcomeCell(*bound);
}

void WritePercentile(RowWriter& row, const std::string& rpc,
                     const std::string& latency, const Percentile& percentile) {
  row.Add("rpc", rpc);
  row.Add("latency", latency);
  row.Add("percentile", percentile.percent);
  row.Add("value_ns", OutcomeCell(percentile.value_ns));
  row.Add("lower_ns", BoundCell(percentile.interval.lower));
  row.Add("upper_ns", BoundCell(percentile.interval.upper));
  row.Add("method", MethodName(percentile.interval.method));
}

void ListPercentileRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, kAllIntervals, [&](const RpcMeasurements& rpc) {
    const auto list = [&](const std::string& latency,
                          const stats::Outcomes& outcomes,
                          const std::vector<stats::Outcomes>& blocks) {
      for (const Percentile& each : EstimatePercentiles(outcomes, blocks)) {
        sink(RowOf(WritePercentile, rpc.name, latency, each));
      }
    };
    list("service", rpc.service_time, ServiceTimeBlocks(rpc.series));
    list("response", rpc.response_time, ResponseTimeBlocks(rpc.series));
    list("lateness", {.latency_ns = rpc.totals.lateness_ns}, {});
  });
}

// A part of the time of an RPC, or a time of its messages.
void WritePart(RowWriter& row, const std::string& rpc, const std::string& part,
               const stats::LogHistogram& times_ns) {
  row.Add("rpc", rpc);
  row.Add("part", part);
  row.Add("count", static_cast<int64_t>(times_ns.count()));
  row.AddTimes("", times_ns, kPartFigures);
}

void ListParts(const std::string& rpc, const std::vector<NamedTimes>& parts,
               RowSink sink) {
  for (const NamedTimes& part : parts) {
    sink(RowOf(WritePart, rpc, std::string(part.name), part.times_ns));
  }
}

void ListTimePartRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    ListParts(rpc.name, TimePartsOf(rpc.totals), sink);
  });
}

void ListStreamRows(const TestResult& result, RowSink sink) {
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const std::optional<StreamStatistics> streams = StreamsOf(result, rpc);
    if (streams) ListParts(rpc, StreamTimesOf(*streams), sink);
  }
}

void WritePeer(RowWriter& row, const std::string& client,
               const std::string& server, const std::string& rpc,
               const results::RpcTotals& totals) {
  const results::RpcCounts& counts = totals.counts;
  const bool is_open_loop = totals.response_time_ns.count() > 0 ||
                            totals.moments.response_time_ns.count > 0;
  const uint64_t failed_count = counts.failed_count;
  row.Add("client", client);
  row.Add("server", server);
  row.Add("rpc", rpc);
  AddCounts(counts, row);
  row.AddTimes("service", {totals.service_time_ns, failed_count}, kPairFigures,
               totals.moments.service_time_ns);
  row.AddTimes("response",
               {totals.response_time_ns, is_open_loop ? failed_count : 0},
               kPairFigures, totals.moments.response_time_ns);
  for (const results::TimePart part :
       {results::TimePart::kNetwork, results::TimePart::kServerQueue,
        results::TimePart::kServerHandler}) {
    row.AddTimes(results::NameOf(part), TimesOf(totals, part), kPairFigures);
  }
}

void ListPeerRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    results::RpcTotals totals;
    // Inconsistent statistics are left out, and a finding says so.
    if (!totals.Add(view.log.statistics()).ok()) return;
    sink(RowOf(WritePeer, view.client, view.server, view.rpc_name, totals));
  });
}

// The error is that of RPCs that failed. With a multi-server channel, any
// instance may have answered.
void WriteSample(RowWriter& row, const std::string& client,
                 const std::string& server, const std::string& rpc,
                 const RpcSample& sample, const Cell& error) {
  row.Add("client", client);
  row.Add("server", server);
  row.Add("rpc", rpc);
  row.Add("start_timestamp_ns", sample.start_timestamp_ns());
  row.Add("service_time_ns", sample.latency_ns());
  row.Add("lateness_ns",
          OptionalCell(sample.has_lateness_ns(), sample.lateness_ns()));
  row.Add("request_bytes", sample.request_size());
  row.Add("response_bytes", sample.response_size());
  row.Add("warmup", int64_t{sample.warmup()});
  row.Add("server_instance",
          OptionalCell(sample.has_server_instance(), sample.server_instance()));
  row.Add("error", error);
  row.Add("server_queue_ns",
          OptionalCell(sample.has_server_queue_ns(), sample.server_queue_ns()));
  row.Add("server_handler_ns", OptionalCell(sample.has_server_handler_ns(),
                                            sample.server_handler_ns()));
}

void ListSampleRows(const TestResult& result, RowSink sink) {
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const auto list = [&](const RpcSample& sample, const Cell& error) {
      sink(RowOf(WriteSample, view.client, view.server, view.rpc_name, sample,
                 error));
    };
    for (const RpcSample& sample : view.log.successful_rpc_samples()) {
      list(sample, {});
    }
    for (const RpcSample& sample : view.log.failed_rpc_samples()) {
      list(sample, results::ErrorMessage(view.errors, sample.error_index()));
    }
  });
}

}  // namespace

const ReportTable& RpcsTable() {
  return TableOf<WriteRpc, ListRpcRows>("rpcs", "a row per RPC");
}

const ReportTable& PercentilesTable() {
  return TableOf<WritePercentile, ListPercentileRows>(
      "percentiles", "a row per RPC and percentile, with its interval");
}

const ReportTable& TimePartsTable() {
  return TableOf<WritePart, ListTimePartRows>(
      "time_parts", "a row per RPC and part of its time");
}

const ReportTable& StreamsTable() {
  return TableOf<WritePart, ListStreamRows>(
      "streams", "a row per RPC that streams and time of its messages");
}

const ReportTable& PeersTable() {
  return TableOf<WritePeer, ListPeerRows>("peers",
                                          "a row per client, server and RPC");
}

const ReportTable& SamplesTable() {
  return TableOf<WriteSample, ListSampleRows>(
      "samples", "a row per RPC of which a sample was kept");
}

// ---- Policies, faults, and what became of the goodput -----------------------

namespace {

constexpr TimeFigure kAttemptFigures[] = {
    figures::kMean, figures::kP50, figures::kP90, figures::kP99, figures::kMax};

// Without an open loop, nothing is offered. What was offered and never sent is
// not sent.
void AddLoads(const RpcMeasurements& rpc, int64_t request_count,
              RowWriter& row) {
  const auto per_second = [&](int64_t count) {
    return PerSecond(static_cast<double>(count), rpc.measured_ns);
  };
  const int64_t offered_count =
      rpc.offered.value_or(OfferedLoad()).offered_count();
  row.Add("offered_per_second",
          offered_count > 0 ? Cell(per_second(offered_count)) : Cell());
  row.Add("sent_per_second", per_second(request_count));
  row.Add("goodput_per_second", rpc.goodput_per_second());
}

void WritePolicy(RowWriter& row, const RpcMeasurements& rpc) {
  const PolicyStatistics attempts = rpc.attempts.value_or(PolicyStatistics());
  row.Add("rpc", rpc.name);
  row.Add("requests", attempts.request_count());
  row.Add("attempts", attempts.attempt_count());
  row.Add("retries", attempts.retry_count());
  row.Add("hedges", attempts.hedge_count());
  row.Add("hedges_won", attempts.hedge_won_count());
  row.Add("succeeded_attempts", attempts.succeeded_attempt_count());
  row.Add("failed_attempts", attempts.failed_attempt_count());
  row.Add("abandoned_attempts", attempts.abandoned_attempt_count());
  row.Add("uncancelled_attempts", attempts.uncancelled_attempt_count());
  row.Add("refused_by_budget", attempts.refused_by_budget_count());
  row.Add("refused_by_circuit_breaker",
          attempts.refused_by_circuit_breaker_count());
  row.Add("refused_by_limit", attempts.refused_by_limit_count());
  row.Add("circuits_opened", attempts.circuit_opened_count());
  row.Add("not_needed", attempts.not_needed_count());
  row.Add("quorums_failed", attempts.quorum_failed_count());
  row.Add("amplification", NumberCell(Amplification(attempts)));
  row.Add("wasted",
          NumberCell(WastedShare(attempts, rpc.totals.counts.succeeded_count)));
  AddLoads(rpc, attempts.request_count(), row);
  row.AddTimes("attempt", results::HistogramOf(attempts.attempt_time_ns()),
               kAttemptFigures);
  row.AddTimes("quorum", results::HistogramOf(attempts.quorum_time_ns()),
               kAttemptFigures);
  const ValueMoments& limit = attempts.concurrency_limit();
  const bool has_limit = limit.count() > 0;
  row.Add("mean_concurrency_limit",
          has_limit ? Cell(limit.sum() / static_cast<double>(limit.count()))
                    : Cell());
  row.Add("min_concurrency_limit", OptionalCell(has_limit, limit.min()));
  row.Add("max_concurrency_limit", OptionalCell(has_limit, limit.max()));
}

void ListPolicyRows(const TestResult& result, RowSink sink) {
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    if (rpc.attempts) sink(RowOf(WritePolicy, rpc));
  });
}

// The times of a fault that are kept. A damaged result may have others.
struct FaultTimes {
  int64_t count = 0;
  int64_t sum_ns = 0;
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = 0;

  explicit FaultTimes(const FaultLog& log) {
    for (const FaultTime& time : log.times()) {
      const int64_t from_ns = time.begin_timestamp_ns();
      const int64_t until_ns = time.end_timestamp_ns();
      if (from_ns < 0 || until_ns < from_ns) continue;
      ++count;
      base::SaturatingAddTo(sum_ns, until_ns - from_ns);
      begin_ns = std::min(begin_ns, from_ns);
      end_ns = std::max(end_ns, until_ns);
    }
  }
};

void WriteFault(RowWriter& row, const std::string& instance,
                const std::string& fault, const FaultLog& log) {
  const FaultTimes times(log);
  const bool has_times = times.count > 0;
  row.Add("instance", instance);
  row.Add("fault", fault);
  row.Add("requests", log.request_count());
  row.Add("connections", log.connection_count());
  row.Add("times", times.count);
  row.Add("in_effect_s", SecondsCell(times.sum_ns));
  row.Add("first_begin_timestamp_ns", OptionalCell(has_times, times.begin_ns));
  row.Add("last_end_timestamp_ns", OptionalCell(has_times, times.end_ns));
}

void ListFaultRows(const TestResult& result, RowSink sink) {
  for (const auto* instance :
       results::Sorted(result.service_logs().instance_logs())) {
    for (const auto* fault : results::Sorted(instance->second.fault_logs())) {
      sink(RowOf(WriteFault, instance->first, fault->first, fault->second));
    }
  }
}

void WriteRecovery(RowWriter& row, const Recovery& recovery) {
  row.Add("fault", recovery.window.fault);
  row.Add("begin_timestamp_ns", recovery.window.begin_ns);
  row.Add("end_timestamp_ns", recovery.window.end_ns);
  row.Add("rpc", recovery.rpc);
  row.Add("outcome", std::string(RecoveryOutcomeName(recovery.outcome)));
  row.Add("recovered_after_s", NumberCell(recovery.after_s));
  row.Add("observed_s", recovery.observed_s);
  row.Add("goodput_before_per_second", NumberCell(recovery.before_per_second));
}

void ListRecoveryRows(const TestResult& result, RowSink sink) {
  for (const Recovery& recovery : RecoveriesOf(result)) {
    sink(RowOf(WriteRecovery, recovery));
  }
}

void WriteGoodput(RowWriter& row, const std::string& rpc, bool has_policy,
                  const LoadCurve& curve, const LoadInterval& interval) {
  row.Add("rpc", rpc);
  row.Add("start_timestamp_ns", interval.begin_ns);
  row.Add("duration_s", SecondsCell(curve.interval_ns));
  row.Add("offered", OptionalCell(curve.is_open_loop, interval.offered));
  row.Add("sent", interval.sent);
  row.Add("goodput", interval.goodput);
  row.Add("attempts", OptionalCell(has_policy, interval.attempts));
}

// Of other RPCs, the table "seconds" tells as much.
void ListGoodputRows(const TestResult& result, RowSink sink) {
  const bool has_faults = !FaultWindowsOf(result).empty();
  for (const int rpc_index : ListRpcs(result)) {
    const std::string rpc = results::RpcName(result, rpc_index);
    const bool has_policy = AttemptsOf(result, rpc).has_value();
    if (!has_policy && !has_faults) continue;
    const LoadCurve curve = LoadCurveOf(result, rpc_index);
    for (const LoadInterval& interval : curve.intervals) {
      sink(RowOf(WriteGoodput, rpc, has_policy, curve, interval));
    }
  }
}

}  // namespace

const ReportTable& PoliciesTable() {
  return TableOf<WritePolicy, ListPolicyRows>(
      "policies", "a row per RPC with a policy: its attempts");
}

const ReportTable& FaultsTable() {
  return TableOf<WriteFault, ListFaultRows>(
      "faults", "a row per instance and fault of it: what it did");
}

const ReportTable& RecoveriesTable() {
  return TableOf<WriteRecovery, ListRecoveryRows>(
      "recoveries", "a row per time of a server's fault and RPC: its recovery");
}

const ReportTable& GoodputTable() {
  return TableOf<WriteGoodput, ListGoodputRows>(
      "goodput", "a row per second and RPC with a policy or a fault");
}

}  // namespace distbench::report
