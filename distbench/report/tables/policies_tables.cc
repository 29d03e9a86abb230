#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/recovery.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

std::vector<std::string> PoliciesColumns() {
  std::vector<std::string> columns = {"rpc",
                                      "requests",
                                      "attempts",
                                      "retries",
                                      "hedges",
                                      "hedges_won",
                                      "succeeded_attempts",
                                      "failed_attempts",
                                      "abandoned_attempts",
                                      "uncancelled_attempts",
                                      "refused_by_budget",
                                      "refused_by_circuit_breaker",
                                      "refused_by_limit",
                                      "circuits_opened",
                                      "not_needed",
                                      "quorums_failed",
                                      "amplification",
                                      "wasted",
                                      "offered_per_second",
                                      "sent_per_second",
                                      "goodput_per_second"};
  for (const char* time : {"attempt", "quorum"}) {
    for (const char* value : {"mean", "p50", "p90", "p99", "max"}) {
      columns.push_back(absl::StrCat(time, "_", value, "_ns"));
    }
  }
  columns.insert(columns.end(),
                 {"mean_concurrency_limit", "min_concurrency_limit",
                  "max_concurrency_limit"});
  return columns;
}

void AppendAttemptTimes(const stats::LogHistogram& times_ns, Row& row) {
  const stats::OutcomesView outcomes(times_ns);
  row.insert(row.end(), {MeanCell(times_ns), QuantileCell(outcomes, 0.5),
                         QuantileCell(outcomes, 0.9),
                         QuantileCell(outcomes, 0.99), MaxCell(times_ns)});
}

// Without an open loop, nothing is offered. What was offered and never sent is
// not sent.
void AppendLoads(const RpcMeasurements& rpc, Row& row) {
  const auto per_second = [&](int64_t count) {
    return PerSecond(static_cast<double>(count), rpc.measured_ns);
  };
  std::optional<double> offered;
  if (rpc.offered && rpc.offered->offered_count() > 0) {
    offered = per_second(rpc.offered->offered_count());
  }
  row.insert(row.end(),
             {NumberCell(offered), per_second(rpc.attempts->request_count),
              rpc.goodput_per_second()});
}

Row PolicyRow(const RpcMeasurements& rpc) {
  const results::PolicyTotals& attempts = *rpc.attempts;
  Row row = {
      rpc.name,
      attempts.request_count,
      attempts.attempt_count,
      attempts.retry_count,
      attempts.hedge_count,
      attempts.hedge_won_count,
      attempts.succeeded_attempt_count,
      attempts.failed_attempt_count,
      attempts.abandoned_attempt_count,
      attempts.uncancelled_attempt_count,
      attempts.refused_by_budget_count,
      attempts.refused_by_circuit_breaker_count,
      attempts.refused_by_limit_count,
      attempts.circuit_opened_count,
      attempts.not_needed_count,
      attempts.quorum_failed_count,
      NumberCell(Amplification(attempts)),
      NumberCell(WastedShare(attempts, rpc.totals.counts.succeeded_count))};
  AppendLoads(rpc, row);
  AppendAttemptTimes(attempts.attempt_time_ns, row);
  AppendAttemptTimes(attempts.quorum_time_ns, row);
  const stats::RunningMoments& limit = attempts.concurrency_limit;
  row.insert(row.end(),
             {MeanCell(limit), OptionalCell(limit.count > 0, limit.min),
              MaxCell(limit)});
  return row;
}

void ListPolicyRows(const TestResult& result, RowSink sink) {
  const TestTotals totals = AddUp(result);
  for (const int rpc_index : ListRpcs(result)) {
    const RpcMeasurements rpc =
        MeasurementsOf(result, totals, rpc_index, /*max_intervals=*/1);
    if (rpc.attempts) sink(PolicyRow(rpc));
  }
}

}  // namespace

const ReportTable& PoliciesTable() {
  static const ReportTable* const table =
      new ReportTable{"policies", "a row per RPC with a policy: its attempts",
                      PoliciesColumns(), ListPolicyRows};
  return *table;
}

namespace {

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

void ListFaultRows(const TestResult& result, RowSink sink) {
  std::map<std::pair<std::string, std::string>, const FaultLog*> logs;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [fault, fault_log] : log.fault_logs()) {
      logs[{instance, fault}] = &fault_log;
    }
  }
  for (const auto& [names, log] : logs) {
    const FaultTimes times(*log);
    const bool has_times = times.count > 0;
    sink({names.first, names.second, log->request_count(),
          log->connection_count(), times.count, SecondsCell(times.sum_ns),
          OptionalCell(has_times, times.begin_ns),
          OptionalCell(has_times, times.end_ns)});
  }
}

}  // namespace

const ReportTable& FaultsTable() {
  static const ReportTable* const table = new ReportTable{
      "faults",
      "a row per instance and fault of it: what it did",
      {"instance", "fault", "requests", "connections", "times", "in_effect_s",
       "first_begin_timestamp_ns", "last_end_timestamp_ns"},
      ListFaultRows};
  return *table;
}

namespace {

void ListRecoveryRows(const TestResult& result, RowSink sink) {
  for (const Recovery& recovery : RecoveriesOf(result)) {
    sink({recovery.window.fault, recovery.window.begin_ns,
          recovery.window.end_ns, recovery.rpc,
          std::string(RecoveryOutcomeName(recovery.outcome)),
          NumberCell(recovery.after_s), recovery.observed_s,
          NumberCell(recovery.before_per_second)});
  }
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
      sink({rpc, interval.begin_ns, SecondsCell(curve.interval_ns),
            OptionalCell(curve.is_open_loop, interval.offered), interval.sent,
            interval.goodput, OptionalCell(has_policy, interval.attempts)});
    }
  }
}

}  // namespace

const ReportTable& RecoveriesTable() {
  static const ReportTable* const table = new ReportTable{
      "recoveries",
      "a row per time of a server's fault and RPC: its recovery",
      {"fault", "begin_timestamp_ns", "end_timestamp_ns", "rpc", "outcome",
       "recovered_after_s", "observed_s", "goodput_before_per_second"},
      ListRecoveryRows};
  return *table;
}

const ReportTable& GoodputTable() {
  static const ReportTable* const table =
      new ReportTable{"goodput",
                      "a row per second and RPC with a policy or a fault",
                      {"rpc", "start_timestamp_ns", "duration_s", "offered",
                       "sent", "goodput", "attempts"},
                      ListGoodputRows};
  return *table;
}

}  // namespace distbench::report
