#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/tables/table.h"

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

}  // namespace distbench::report
