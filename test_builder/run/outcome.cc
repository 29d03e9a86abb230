#include "test_builder/run/outcome.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/text_table.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::test_builder {
namespace {

absl::string_view VerdictName(TestOutcome::Verdict verdict) {
  switch (verdict) {
    case TestOutcome::Verdict::kOk:
      return "ok";
    case TestOutcome::Verdict::kWarn:
      return "warn";
    case TestOutcome::Verdict::kInvalid:
      return "invalid";
    case TestOutcome::Verdict::kFailed:
      return "failed";
    case TestOutcome::Verdict::kNotRun:
      return "not run";
  }
  return "";
}

TestOutcome::Verdict VerdictOf(const TestResult& result) {
  const std::string verdict = report::RunVerdict(result);
  for (const auto of_run :
       {TestOutcome::Verdict::kOk, TestOutcome::Verdict::kWarn,
        TestOutcome::Verdict::kInvalid}) {
    if (VerdictName(of_run) == verdict) return of_run;
  }
  return TestOutcome::Verdict::kFailed;
}

std::string FormatLatency(int64_t ns) {
  if (ns == stats::Outcomes::kFailed) return "failed";
  return base::HumanDuration(static_cast<double>(ns));
}

// Numbers are right-aligned.
constexpr absl::string_view kAlignment = "llrrrl";

std::vector<base::TextRow> RowsOf(const TestOutcome& outcome) {
  const std::string verdict =
      absl::StrCat(VerdictName(outcome.verdict), outcome.kept ? " (kept)" : "");
  if (outcome.rpcs.empty())
    return {{outcome.test, "-", "-", "-", "-", verdict}};
  std::vector<base::TextRow> rows;
  for (const TestOutcome::RpcFigures& figures : outcome.rpcs) {
    rows.push_back(
        {rows.empty() ? outcome.test : "", figures.rpc,
         base::HumanRate(figures.per_second), FormatLatency(figures.p50_ns),
         FormatLatency(figures.p99_ns), rows.empty() ? verdict : ""});
  }
  return rows;
}

}  // namespace

TestOutcome OutcomeOf(const TestResult& result,
                      absl::Span<const std::string> objectives) {
  TestOutcome outcome;
  outcome.test = result.traffic_config().name();
  outcome.verdict = VerdictOf(result);
  outcome.objectives = report::CheckObjectives(result, objectives);
  const report::TestTotals totals = report::AddUp(result);
  for (const RpcSpec& rpc : result.traffic_config().rpc_descriptions()) {
    const auto found = totals.rpcs.find(rpc.name());
    if (found == totals.rpcs.end()) continue;
    const results::RpcTotals& rpc_totals = found->second;
    stats::Outcomes latency =
        report::ResponseTimeOf(result, totals, rpc.name());
    if (latency.count() == 0) latency = report::ServiceTimeOf(rpc_totals);
    if (latency.count() == 0) continue;
    const double count = static_cast<double>(rpc_totals.counts.succeeded_count);
    outcome.rpcs.push_back({.rpc = rpc.name(),
                            .per_second = report::PerSecond(
                                count, rpc_totals.counts.duration_ns()),
                            .p50_ns = latency.ValueAtQuantile(0.5),
                            .p99_ns = latency.ValueAtQuantile(0.99)});
  }
  return outcome;
}

std::string OutcomeTable(absl::Span<const TestOutcome> outcomes) {
  std::vector<base::TextRow> rows = {
      {"test", "RPC", "rate", "p50", "p99", "verdict"}};
  for (const TestOutcome& outcome : outcomes) {
    for (base::TextRow& row : RowsOf(outcome)) rows.push_back(std::move(row));
  }
  return absl::StrCat(absl::StrJoin(base::AlignedLines(rows, kAlignment), "\n"),
                      "\n");
}

}  // namespace distbench::test_builder
