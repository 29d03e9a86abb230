#include "distbench/report/measurements/attempt_totals.h"
#include "distbench/report/measurements/load_curve.h"
#include "distbench/report/measurements/recovery.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
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
