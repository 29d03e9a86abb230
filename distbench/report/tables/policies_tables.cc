#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/client_sums.h"
#include "distbench/report/measurements/recovery.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/row_writer.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

constexpr TimeFigure kFigures[] = {figures::kMean, figures::kP50, figures::kP90,
                                   figures::kP99, figures::kMax};

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
               kFigures);
  row.AddTimes("quorum", results::HistogramOf(attempts.quorum_time_ns()),
               kFigures);
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
  static const ReportTable& table =
      MakeTable("policies", "a row per RPC with a policy: its attempts",
                WritePolicy, ListPolicyRows);
  return table;
}

const ReportTable& FaultsTable() {
  static const ReportTable& table =
      MakeTable("faults", "a row per instance and fault of it: what it did",
                WriteFault, ListFaultRows);
  return table;
}

const ReportTable& RecoveriesTable() {
  static const ReportTable& table = MakeTable(
      "recoveries", "a row per time of a server's fault and RPC: its recovery",
      WriteRecovery, ListRecoveryRows);
  return table;
}

const ReportTable& GoodputTable() {
  static const ReportTable& table =
      MakeTable("goodput", "a row per second and RPC with a policy or a fault",
                WriteGoodput, ListGoodputRows);
  return table;
}

}  // namespace distbench::report
