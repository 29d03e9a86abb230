// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/test_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/text_table.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

std::string FormatLatency(const std::optional<int64_t>& ns) {
  if (!ns) return "-";
  if (*ns == stats::Outcomes::kFailed) return "failed";
  return base::HumanDuration(static_cast<double>(*ns));
}

std::vector<base::TextRow> LinesOf(const TestRow& row) {
  const std::string test = base::PrintableLine(row.test);
  if (row.rpcs.empty()) return {{test, "-", "-", "-", "-", row.verdict}};
  std::vector<base::TextRow> lines;
  for (const TestRow::RpcFigures& figures : row.rpcs) {
    lines.push_back(
        {lines.empty() ? test : "", base::PrintableLine(figures.rpc),
         base::HumanRate(figures.per_second), FormatLatency(figures.p50_ns),
         FormatLatency(figures.p99_ns), lines.empty() ? row.verdict : ""});
  }
  return lines;
}

}  // namespace

TestRow RowOf(const TestResult& result) {
  TestRow row = {.test = result.traffic_config().name(),
                 .verdict = RunVerdict(result),
                 .rpcs = {}};
  ForEachRpc(result, /*max_intervals=*/1, [&](const RpcMeasurements& rpc) {
    const stats::Outcomes& latency = rpc.latency();
    if (latency.count() == 0) return;
    const results::RpcCounts& counts = rpc.totals.counts;
    row.rpcs.push_back(
        {.rpc = rpc.name,
         .per_second = PerSecond(static_cast<double>(counts.succeeded_count),
                                 counts.duration_ns()),
         .p50_ns = ShownPercentile(latency, 50),
         .p99_ns = ShownPercentile(latency, 99)});
  });
  return row;
}

std::string TestTable(absl::Span<const TestRow> rows) {
  std::vector<base::TextRow> lines = {
      {"test", "RPC", "rate", "p50", "p99", "verdict"}};
  for (const TestRow& row : rows) {
    for (base::TextRow& line : LinesOf(row)) lines.push_back(std::move(line));
  }
  // Numbers are right-aligned.
  return absl::StrCat(
      "All tests, with response times where the load is an open loop and "
      "service times elsewhere:\n",
      absl::StrJoin(base::AlignedLines(lines, "llrrrl"), "\n"), "\n");
}

}  // namespace distbench::report
