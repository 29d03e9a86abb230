// What is known of one cell.

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/protection/measures/notes.h"
#include "distbench/products/protection/report/protection_format.h"
#include "distbench/products/protection/report/text_parts.h"
#include "distbench/report/terminal/human_units.h"
#include "distbench/stats/outcomes.h"

namespace distbench::protection {
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
             : report::HumanDuration(static_cast<double>(ns));
}

std::string Baselines(const ProtectionCell& cell) {
  std::vector<std::string> runs;
  for (const ProtectionRun& run : cell.runs) {
    if (!run.problem.empty()) continue;
    runs.push_back(absl::StrCat(report::HumanRate(run.baseline_per_second),
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
  const stats::ValueDistribution& impact = cell.impact[kMainImpact];
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
