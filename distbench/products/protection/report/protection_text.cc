// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/protection_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/text_table.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/outcomes.h"

namespace distbench::protection {
namespace {

std::string Title(const ProtectionMatrix& matrix) {
  const ExperimentReport& report = *matrix.report;
  std::string title = absl::StrCat("Protection: ", report.test_name());
  if (!matrix.subject.rpc.empty()) {
    absl::StrAppend(&title, ", RPC ", matrix.subject.rpc);
  }
  const std::string& objective = report.experiment().subject().objective();
  if (!objective.empty()) absl::StrAppend(&title, ", ", objective);
  if (report.has_capacity_per_second()) {
    absl::StrAppend(&title, ", capacity ",
                    matrix.is_capacity_least ? "at least " : "",
                    report.capacity_per_second(), " per second");
  }
  return absl::StrCat(title, "\n");
}

std::string MatrixText(const ProtectionMatrix& matrix) {
  std::string text = Title(matrix);
  if (!matrix.problem.empty()) {
    absl::StrAppend(&text, "Not measured: ", matrix.problem, "\n");
  } else {
    absl::StrAppend(&text, CellTable(matrix.cells));
  }
  for (const std::string& omission : matrix.report->omissions()) {
    absl::StrAppend(&text, "Note: ", omission, "\n");
  }
  for (const std::string& note : NotesOf(matrix)) {
    absl::StrAppend(&text, "Note: ", note, "\n");
  }
  for (const ProtectionCell& cell : matrix.cells) {
    absl::StrAppend(&text, "\n", CellSummary(cell));
  }
  return text;
}

std::string MatricesText(const std::vector<ProtectionMatrix>& matrices) {
  std::string text;
  for (const ProtectionMatrix& matrix : matrices) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", MatrixText(matrix));
  }
  return text;
}

}  // namespace

std::string ProtectionText(const TestSequenceResults& results) {
  return MatricesText(MeasureExperiments(results));
}

std::string ProtectionText(absl::Span<const report::TestRun> runs) {
  return MatricesText(MeasureExperiments(runs));
}

namespace {

constexpr int kLabelWidth = 11;
constexpr int kColumnWidth = 6;

struct Unit {
  double size;
  char name;
};
constexpr Unit kUnits[] = {{1, 'n'}, {1e3, 'u'}, {1e6, 'm'}, {1e9, 's'}};

std::string Column(absl::string_view text) {
  return absl::StrFormat("%*s", kColumnWidth, text);
}

std::string OptionalShare(const std::optional<double>& share) {
  return share ? FormatShare(*share) : "-";
}

std::string FormatNested(absl::string_view name,
                         const ValueDistribution& latencies) {
  return absl::StrCat(name, "=", FormatLatency(latencies.mean().value_or(0)),
                      ":", FormatLatency(latencies.deviation().value_or(0)),
                      "/", FormatLatency(latencies.AtQuantile(1)));
}

}  // namespace

// Each limit is the number that rounds to one more digit.
std::string FormatShare(double share) {
  if (std::isinf(share)) return "fail";
  const double percent = 100 * share;
  if (percent == 0) return "0";
  if (percent < 99.995) return absl::StrFormat("%.2f", percent);
  if (percent < 999.95) return absl::StrFormat("%.1f", percent);
  if (percent < 99999.5) return absl::StrFormat("%.0f", percent);
  return absl::StrFormat("%.0e", percent);
}

std::string FormatLatency(double ns) {
  if (ns == 0) return "0";
  const Unit* unit = std::begin(kUnits);
  while (unit + 1 != std::end(kUnits) && ns >= 999.5 * unit->size) ++unit;
  const double number = ns / unit->size;
  return number < 99.95 ? absl::StrFormat("%.1f%c", number, unit->name)
                        : absl::StrFormat("%.0f%c", number, unit->name);
}

std::string DistributionHeader() {
  std::string line(kLabelWidth, ' ');
  for (const DistributionColumn& column : kDistributionColumns) {
    absl::StrAppend(&line, Column(column.name));
  }
  return absl::StrCat(line, Column("mean"), Column("stdev"));
}

std::string FormatDistribution(absl::string_view label,
                               const ValueDistribution& distribution) {
  std::string line = absl::StrFormat("%-*s", kLabelWidth, label);
  if (distribution.count() == 0) return absl::StrCat(line, " not measured");
  for (const DistributionColumn& column : kDistributionColumns) {
    absl::StrAppend(
        &line, Column(FormatShare(distribution.AtQuantile(column.quantile))));
  }
  return absl::StrCat(line, Column(OptionalShare(distribution.mean())),
                      Column(OptionalShare(distribution.deviation())));
}

std::string FormatNestedLatencies(const NestedLatencies& latencies) {
  if (latencies.p50.count() == 0) return "";
  return absl::StrCat(FormatNested("p50", latencies.p50), " ",
                      FormatNested("p90", latencies.p90), " ",
                      FormatNested("p99", latencies.p99), " ",
                      FormatNested("max", latencies.max));
}

// The table of all cells.

namespace {

constexpr absl::string_view kAlignment = "lllrrrrrrrr";

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string LoadText(const ProtectionCell& cell) {
  if (!cell.load.empty()) return cell.load;
  return cell.load_per_second > 0
             ? absl::StrFormat("%.6g/s", cell.load_per_second)
             : "-";
}

std::string ShareText(const std::optional<Estimate>& estimate) {
  return estimate ? FormatShare(estimate->value) : "-";
}

std::string IntervalText(const std::optional<Estimate>& estimate) {
  if (!estimate || !estimate->interval) return "-";
  return absl::StrCat(FormatShare(estimate->interval->lower), " to ",
                      FormatShare(estimate->interval->upper));
}

// Seconds whose p95 was failed are in no mean: the text says so.
std::string ImpactText(const ProtectionCell& cell) {
  if (cell.impact[kMainImpact].infinite_count() == 0) {
    return ShareText(cell.mean_impact);
  }
  return cell.mean_impact ? absl::StrCat(ShareText(cell.mean_impact), "*")
                          : "fail";
}

std::string RecoveryText(const ProtectionCell& cell) {
  const std::optional<double> median = MedianRecovery(cell);
  if (!median) return "-";
  return std::isinf(*median) ? "no" : absl::StrFormat("%.3g s", *median);
}

std::string WorkText(const ProtectionCell& cell) {
  const WorkConservation* work = MainConservation(cell.conservation);
  return work == nullptr ? "-" : FormatShare(*work->share);
}

bool HasFailedSeconds(const std::vector<ProtectionCell>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const auto& cell) {
    return cell.impact[kMainImpact].infinite_count() > 0;
  });
}

base::TextRow RowOf(const ProtectionCell& cell) {
  return {OrDash(cell.controls),
          OrDash(cell.antagonist),
          LoadText(cell),
          absl::StrCat(MeasuredRunCount(cell), "/", cell.runs.size()),
          ShareText(cell.mean_isolation),
          IntervalText(cell.mean_isolation),
          ShareText(cell.p05_isolation),
          ImpactText(cell),
          IntervalText(cell.mean_impact),
          RecoveryText(cell),
          WorkText(cell)};
}

}  // namespace

std::string CellTable(const std::vector<ProtectionCell>& cells) {
  std::vector<base::TextRow> rows = {{"controls", "antagonist", "load", "runs",
                                      "isol%", "interval", "p05", "lat-imp%",
                                      "interval", "recovered", "work_csv%"}};
  for (const ProtectionCell& cell : cells) rows.push_back(RowOf(cell));
  return absl::StrCat(
      "  ", absl::StrJoin(base::AlignedLines(rows, kAlignment), "\n  "), "\n",
      absl::StrFormat("isol%% and lat-imp%% (of p95) are means over the "
                      "seconds beside the antagonist; intervals: %.0f %% "
                      "confidence, over runs.\n",
                      100 * report::kReportConfidence),
      "p05: mean of the runs' own p05; that of all seconds is in the "
      "distributions.\n",
      HasFailedSeconds(cells)
          ? "*: without the seconds whose p95 was failed, whose share is "
            "lat_imp_failed below; fail: it was in all.\n"
          : "",
      "A cell without antagonist shows what noise alone costs.\n");
}

// What is known of one cell.

namespace {

constexpr double kBytesPerMib = 1 << 20;

std::string Heading(const ProtectionCell& cell) {
  std::string title = cell.antagonist.empty()
                          ? "Summary without antagonist"
                          : absl::StrCat(cell.antagonist, " Summary");
  std::vector<std::string> parts;
  if (!cell.controls.empty()) {
    parts.push_back(absl::StrCat("controls ", cell.controls));
  }
  if (!cell.load.empty()) parts.push_back(absl::StrCat("load ", cell.load));
  if (!parts.empty()) {
    absl::StrAppend(&title, " (", absl::StrJoin(parts, ", "), ")");
  }
  return absl::StrCat(title, "\n", std::string(title.size(), '='), "\n\n");
}

// Two lines at most, with a label in front of the first.
std::string FileLines(absl::string_view label, const FileLatencies& files) {
  std::string text;
  const auto append = [&](absl::string_view kind,
                          const NestedLatencies& latencies) {
    const std::string numbers = FormatNestedLatencies(latencies);
    if (numbers.empty()) return;
    const std::string start =
        text.empty() ? std::string(label) : std::string(label.size(), ' ');
    absl::StrAppend(&text, start, kind, " ", numbers, "\n");
  };
  append("R", files.reads);
  append("W", files.writes);
  return text;
}

std::string Files(const ProtectionCell& cell) {
  const std::string text = absl::StrCat(
      FileLines("IO Latency: ", cell.subject_files),
      FileLines("Antagonist's IO Latency: ", cell.antagonist_files));
  return text.empty() ? "" : absl::StrCat(text, "\n");
}

std::string Distributions(const ProtectionCell& cell) {
  std::string text = absl::StrCat(
      "Isolation and Request Latency Impact Distributions:\n\n",
      DistributionHeader(), "\n", FormatDistribution("isol%", cell.isolation),
      "\n", FormatDistribution("lat-imp%", cell.impact[kMainImpact]), "\n");
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    if (i == kMainImpact) continue;
    absl::StrAppend(
        &text,
        FormatDistribution(
            absl::StrFormat("  of p%.0f", 100 * kImpactQuantiles[i]),
            cell.impact[i]),
        "\n");
  }
  return absl::StrCat(text, "\n");
}

std::string LatencyText(int64_t ns) {
  return ns == stats::Outcomes::kFailed
             ? "failed"
             : base::HumanDuration(static_cast<double>(ns));
}

std::string Baselines(const ProtectionCell& cell) {
  std::vector<std::string> runs;
  for (const ProtectionRun& run : cell.runs) {
    if (!run.problem.empty()) continue;
    runs.push_back(absl::StrCat(base::HumanRate(run.baseline_per_second),
                                " with p95 ",
                                LatencyText(run.baseline_ns[kMainImpact])));
  }
  return absl::StrCat("Baseline of each run: ", absl::StrJoin(runs, "; "),
                      "\n");
}

std::string RateText(const WorkRate& rate) {
  std::string text = absl::StrFormat("%.4g", rate.completed);
  if (rate.offered > 0) absl::StrAppendFormat(&text, " of %.4g", rate.offered);
  absl::StrAppend(&text, " iterations per second");
  for (const double bytes : {rate.bytes, rate.message_bytes}) {
    if (bytes <= 0) continue;
    absl::StrAppendFormat(&text, ", %.4g MiB/s", bytes / kBytesPerMib);
  }
  return text;
}

std::string AntagonistText(const ProtectionCell& cell) {
  if (cell.antagonist.empty()) return "";
  return absl::StrCat(
      "Antagonist: ",
      cell.work.beside ? RateText(*cell.work.beside) : "no work recorded",
      "; alone: ",
      cell.work.alone ? RateText(*cell.work.alone) : "not measured", "\n");
}

std::string ConservationText(const ProtectionCell& cell) {
  std::string text;
  for (const WorkConservation& work : cell.conservation) {
    absl::StrAppend(&text, "Work, ", WorkResourceName(work.resource), ": ");
    if (work.share) {
      absl::StrAppendFormat(
          &text,
          "%s%%; together %.4g of %.4g per second; alone: subject %.4g, "
          "antagonist %.4g\n",
          FormatShare(*work.share), work.together, work.possible,
          work.subject_alone, work.antagonist_alone);
    } else {
      absl::StrAppend(&text, "not accounted: ", work.reason, "\n");
    }
  }
  return text;
}

std::string RecoveryText(const ProtectionRun& run) {
  if (!ShowsRecovery(run)) return "not measured";
  return run.recovered_after_s
             ? absl::StrFormat("after %.3g s", *run.recovered_after_s)
             : absl::StrFormat("not within %.3g s", run.recovery_s);
}

std::string Recoveries(const ProtectionCell& cell) {
  std::vector<std::string> runs;
  for (const ProtectionRun& run : cell.runs) {
    if (run.problem.empty()) runs.push_back(RecoveryText(run));
  }
  return absl::StrCat("Recovered: ", absl::StrJoin(runs, "; "), "\n");
}

std::string Notes(const ProtectionCell& cell) {
  std::string text;
  for (const std::string& note : NotesOf(cell)) {
    absl::StrAppend(&text, "Note: ", note, "\n");
  }
  for (const ProtectionRun& run : cell.runs) {
    const std::vector<std::string> notes = NotesOf(run);
    if (notes.empty()) continue;
    absl::StrAppend(&text, "Run ",
                    run.result->experiment_cell().repetition() + int64_t{1},
                    ": ", absl::StrJoin(notes, "; "), "\n");
  }
  return text;
}

}  // namespace

std::string ResultLine(const ProtectionCell& cell) {
  const ValueDistribution& impact = cell.impact[kMainImpact];
  const WorkConservation* work = MainConservation(cell.conservation);
  const auto share = [](const std::optional<double>& value) {
    return value ? FormatShare(*value) : "-";
  };
  std::string line = absl::StrCat(
      "Result: isol=", share(cell.isolation.mean()), ":",
      share(cell.isolation.deviation()), "% lat_imp=", share(impact.mean()),
      "%:", share(impact.deviation()), " work_csv=",
      work == nullptr ? "not_accounted"
                      : absl::StrCat(FormatShare(*work->share), "%"),
      " missing=", FormatShare(cell.missing_share), "%");
  if (impact.infinite_count() > 0) {
    absl::StrAppend(&line, " lat_imp_failed=",
                    FormatShare(static_cast<double>(impact.infinite_count()) /
                                static_cast<double>(impact.count())),
                    "%");
  }
  if (cell.failed_share > 0) {
    absl::StrAppend(&line, " FAIL=", FormatShare(cell.failed_share), "%");
  }
  return line;
}

std::string CellSummary(const ProtectionCell& cell) {
  std::string text = Heading(cell);
  if (cell.isolation.count() == 0) {
    return absl::StrCat(text, Notes(cell), "Result: not measured\n");
  }
  absl::StrAppend(&text, Files(cell), Distributions(cell), Baselines(cell),
                  AntagonistText(cell), ConservationText(cell),
                  Recoveries(cell));
  if (cell.isolation_against_none) {
    absl::StrAppend(&text, "Against the cell without antagonist: isol ",
                    FormatShare(*cell.isolation_against_none), "%\n");
  }
  return absl::StrCat(text, Notes(cell), "\n", ResultLine(cell), "\n");
}

}  // namespace distbench::protection
