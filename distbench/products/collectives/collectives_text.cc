// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/collectives/collectives_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/text_table.h"
#include "distbench/products/collectives/collectives.h"

namespace distbench::collectives {
namespace {

// Groups of each operation.
constexpr size_t kMaxGroups = 8;

constexpr char kNone[] = "-";

// As nccl-tests have it: 10^9 bytes per second.
std::string Bandwidth(bool is_known, double bytes_per_second) {
  return is_known ? absl::StrFormat("%.3g", bytes_per_second / 1e9) : kNone;
}

std::string Time(bool is_known, double ns) {
  return is_known ? base::HumanDuration(ns) : kNone;
}

std::string Last(const std::string& rank, double share) {
  if (rank.empty()) return kNone;
  return absl::StrCat(base::PrintableLine(rank), " (",
                      base::HumanPercent(share), ")");
}

base::TextRow Header() {
  return {"group",      "ranks",         "iterations", "time",
          "algbw GB/s", "busbw GB/s",    "whole p99",  "begin spread",
          "end spread", "last to begin", "last to end"};
}

base::TextRow RowOf(const CollectiveTable::Row& row) {
  return {base::PrintableLine(row.group()),
          absl::StrCat(row.ranks()),
          absl::StrCat(row.iterations()),
          Time(row.has_time_ns(), row.time_ns()),
          Bandwidth(row.has_algorithm_bandwidth(), row.algorithm_bandwidth()),
          Bandwidth(row.has_bus_bandwidth(), row.bus_bandwidth()),
          Time(row.whole().has_p99_ns(), row.whole().p99_ns()),
          Time(row.begin().has_p50_ns(), row.begin().p50_ns()),
          Time(row.end().has_p50_ns(), row.end().p50_ns()),
          Last(row.last_to_begin(), row.last_to_begin_share()),
          Last(row.last_to_end(), row.last_to_end_share())};
}

std::string TitleOf(const CollectiveTable::Row& row) {
  return absl::StrCat(
      "  ", base::PrintableLine(row.collective()), ": ", row.operation(),
      row.algorithm().empty()
          ? ""
          : absl::StrCat(" by ", base::PrintableLine(row.algorithm())),
      " of ", row.size_bytes(), " bytes (",
      base::HumanBytes(static_cast<double>(row.size_bytes())), ")");
}

// The groups of one operation.
void AddLines(std::vector<CollectiveTable::Row> groups,
              std::vector<std::string>& lines) {
  lines.push_back(TitleOf(groups.front()));
  const size_t count = groups.size();
  if (count > kMaxGroups) {
    absl::c_stable_sort(groups, [](const auto& a, const auto& b) {
      return a.time_ns() > b.time_ns();
    });
    groups.resize(kMaxGroups);
  }
  std::vector<base::TextRow> rows = {Header()};
  for (const CollectiveTable::Row& row : groups) rows.push_back(RowOf(row));
  for (const std::string& line : base::AlignedLines(rows, "lrrrrrrrrll")) {
    lines.push_back(absl::StrCat("    ", line));
  }
  if (count > groups.size()) {
    lines.push_back(absl::StrCat("    and ", count - groups.size(),
                                 " groups that took less time"));
  }
}

}  // namespace

std::vector<std::string> CollectiveLines(const TestResult& result) {
  std::vector<std::string> lines;
  std::vector<CollectiveTable::Row> groups;
  for (MeasuredCollective& each : MeasureCollectives(result)) {
    if (!groups.empty() &&
        groups.front().collective() != each.row.collective()) {
      AddLines(std::exchange(groups, {}), lines);
    }
    groups.push_back(std::move(each.row));
  }
  if (!groups.empty()) AddLines(std::move(groups), lines);
  return lines;
}

}  // namespace distbench::collectives
