// The table of all cells.

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/text_table.h"
#include "distbench/products/protection/report/protection_format.h"
#include "distbench/products/protection/report/text_parts.h"
#include "distbench/report/measurements/rpc_measurements.h"

namespace distbench::protection {
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
      HasFailedSeconds(cells)
          ? "*: without the seconds whose p95 was failed, whose share is "
            "lat_imp_failed below; fail: it was in all.\n"
          : "",
      "A cell without antagonist shows what noise alone costs.\n");
}

}  // namespace distbench::protection
