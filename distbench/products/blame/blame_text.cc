#include "distbench/products/blame/blame_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/products/blame/blame.h"
#include "distbench/products/blame/sentences.h"
#include "distbench/report/measurements/origin.h"
#include "distbench/report/terminal/human_units.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::blame {
namespace {

void AppendTable(const char* title, const report::PageTable& table,
                 std::string& text) {
  if (table.rows.empty()) return;
  absl::StrAppend(&text, "\n  ", title, "\n",
                  report::RenderTable(table, report::kUnbroken));
}

// Says what was analysed, and what was not.
void AppendCounts(const TracedRequests& requests, std::string& text) {
  absl::StrAppendFormat(&text, "  %d complete traces of %d RPCs that succeeded",
                        requests.trees.size(), requests.succeeded_count);
  const std::pair<const char*, int64_t> left_out[] = {
      {"incomplete", requests.incomplete_count},
      {"failed", requests.failed_count},
      {"of the warm-up", requests.warmup_count},
      {"damaged", requests.damaged_count}};
  const char* separator = "; left out: ";
  for (const auto& [reason, count] : left_out) {
    if (count == 0) continue;
    absl::StrAppend(&text, separator, count, " ", reason);
    separator = ", ";
  }
  absl::StrAppend(&text, "\n");
  if (requests.moved_call_count > 0) {
    absl::StrAppendFormat(
        &text,
        "  %d of %d RPCs were moved into the time of the RPC that caused them, "
        "because clocks differ\n",
        requests.moved_call_count, requests.call_count);
  }
}

// Windows that have traces.
std::vector<size_t> ShownWindows(const RequestBlame& blame) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < blame.windows.size(); ++i) {
    if (!blame.windows[i].trees.empty()) shown.push_back(i);
  }
  return shown;
}

std::string RowName(const TracedRequests& requests, const BlameShare& share) {
  std::string name =
      absl::StrCat(requests.rpcs[share.rpc], " ", NameOf(share.part));
  if (share.instance >= 0) {
    absl::StrAppend(&name, " ", requests.instances[share.instance]);
  }
  return report::Visible(name);
}

// A column for each window and, in the tail, another for the excess. Rows are
// in the order of the last window, then of those before.
report::PageTable SharesTable(const RequestBlame& blame,
                              std::vector<BlameShare> QuantileShares::*shares) {
  const std::vector<size_t> windows = ShownWindows(blame);
  report::PageTable table = {{"share of time"}, {}};
  for (const size_t window : windows) {
    const std::string percentile = PercentileText(kBlamedQuantiles[window]);
    table.titles.push_back(percentile);
    if (window != kMedian) table.titles.push_back(percentile + " beyond p50");
  }
  std::map<std::string, size_t> rows;
  size_t column = table.titles.size();
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    column -= *window == kMedian ? 1 : 2;
    for (const BlameShare& share : blame.shares[*window].*shares) {
      const std::string name = RowName(blame.requests, share);
      const auto [row, is_new] = rows.emplace(name, table.rows.size());
      if (is_new) {
        table.rows.emplace_back(table.titles.size());
        table.rows.back()[0].text = name;
      }
      std::vector<report::ColoredText>& cells = table.rows[row->second];
      cells[column].text = ShareText(share.of_time);
      if (share.of_excess.has_value()) {
        cells[column + 1].text = ShareText(*share.of_excess);
      }
    }
  }
  return table;
}

std::string LastText(const LastCount& count) {
  return count.fanout_count == 0 ? ""
                                 : absl::StrFormat("%d of %d", count.last_count,
                                                   count.fanout_count);
}

std::string ChanceText(const LastCount& count) {
  return count.fanout_count == 0
             ? ""
             : absl::StrFormat("%.0f, at most %d", count.expected_count,
                               count.most_by_chance);
}

std::string VerdictText(const Straggler& straggler) {
  if (straggler.is_to_blame) return "straggler";
  return straggler.of_all.is_straggler || straggler.of_tail.is_straggler
             ? "waits for others"
             : "";
}

report::PageTable StragglersTable(const RequestBlame& blame) {
  report::PageTable table = {
      {"last of a fanout", "verdict", "last", "by chance", "around p99",
       "by chance", "own time", "share of p99"},
      {}};
  const size_t count = std::min(blame.stragglers.size(), kMostListedStragglers);
  for (size_t i = 0; i < count; ++i) {
    const Straggler& straggler = blame.stragglers[i];
    const std::string name =
        absl::StrCat(blame.requests.rpcs[straggler.rpc], " ",
                     blame.requests.instances[straggler.instance]);
    table.rows.push_back(
        {{report::Visible(name)},
         {VerdictText(straggler)},
         {LastText(straggler.of_all)},
         {ChanceText(straggler.of_all)},
         {LastText(straggler.of_tail)},
         {ChanceText(straggler.of_tail)},
         {absl::StrFormat("%.0f%%", 100 * straggler.own_share)},
         {straggler.of_tail.fanout_count == 0
              ? ""
              : absl::StrFormat("%.0f%%", 100 * straggler.tail_share)}});
  }
  return table;
}

void AppendRequests(const RequestBlame& blame, std::string& text) {
  const TracedRequests& requests = blame.requests;
  absl::StrAppend(&text, "Blame: ", report::Visible(requests.rpcs.front()),
                  ", ", requests.is_open_loop ? "response" : "service",
                  " time\n");
  AppendCounts(requests, text);
  for (const size_t window : ShownWindows(blame)) {
    absl::StrAppendFormat(&text, "  around %s: %d traces, mean %s\n",
                          PercentileText(kBlamedQuantiles[window]),
                          blame.windows[window].trees.size(),
                          report::HumanDuration(blame.shares[window].mean_ns));
  }
  absl::StrAppend(&text, "\n");
  for (const std::string& sentence : blame.sentences) {
    absl::StrAppend(
        &text, report::Paragraph({"  -"}, report::Visible(sentence), 4, {}));
  }
  AppendTable("Where the time went",
              SharesTable(blame, &QuantileShares::shares), text);
  AppendTable("The largest of single instances",
              SharesTable(blame, &QuantileShares::instance_shares), text);
  AppendTable("Who was last", StragglersTable(blame), text);
  if (blame.stragglers.size() > kMostListedStragglers) {
    absl::StrAppend(&text, "  ... and ",
                    blame.stragglers.size() - kMostListedStragglers,
                    " instances more\n");
  }
}

void AppendTest(const TestBlame& blame, std::string& text) {
  if (blame.dropped_sample_count > 0) {
    absl::StrAppend(&text, blame.dropped_sample_count,
                    " samples of RPCs were not kept (sample_memory_bytes)\n");
  }
  if (blame.rootless_count > 0) {
    absl::StrAppend(&text, blame.rootless_count,
                    " parts of requests are left out, because their first RPC "
                    "was not kept\n");
  }
  for (const RequestBlame& requests : blame.requests) {
    AppendRequests(requests, text);
  }
}

}  // namespace

std::string BlameText(absl::Span<const report::TestRun> runs) {
  std::string text;
  for (const report::TestRun& run : runs) {
    absl::StrAppend(&text, "Test: ",
                    report::Visible(report::MarkedName(run.name, *run.result)),
                    report::RunNumber(run), "\n");
    if (const auto blame = FindBlame(*run.result)) {
      AppendTest(*blame, text);
    } else {
      absl::StrAppend(&text, kNoTraces, "\n");
    }
  }
  return text;
}

}  // namespace distbench::blame
