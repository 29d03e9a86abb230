// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/blame.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/stragglers.h"
#include "distbench/products/blame/what_if.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::blame {
namespace {

using BlamedRequests = ReportedBlame::BlamedRequests;

constexpr int64_t kMostListedStragglers = 20;
constexpr int kMostNamed = 5;  // stragglers and remedies

std::string ShareText(double share, double lower, double upper) {
  return absl::StrFormat("%.0f %% (%.0f %% to %.0f %%)", 100 * share,
                         100 * lower, 100 * upper);
}

std::string PercentileText(const ReportedBlame::Quantile& quantile) {
  return absl::StrFormat("p%g", quantile.percentile());
}

// $0 is an RPC. In the order of kPartNames.
constexpr const char* kPartTexts[] = {
    "lateness, the wait of $0 in its client",
    "the network and both stacks of $0",
    "the server queue of $0",
    "the handler of $0",
    "$0 itself, without the RPCs that it waits for",
};

std::string PartText(const ReportedBlame::BlameShare& share) {
  const auto* name =
      std::find(std::begin(kPartNames), std::end(kPartNames), share.part());
  return absl::Substitute(kPartTexts[name - std::begin(kPartNames)],
                          share.rpc());
}

// What makes requests around a quantile slower than those around p50.
std::string ExcessSentence(const ReportedBlame::Quantile& tail,
                           const ReportedBlame::Quantile& median) {
  const ReportedBlame::BlameShare* cause = MainCause(tail);
  const std::string outcome =
      cause == nullptr
          ? "No single part is shown to make up most of the difference."
          : absl::StrCat(ShareText(cause->excess(), cause->excess_lower(),
                                   cause->excess_upper()),
                         " of the difference is ", PartText(*cause), ".");
  return absl::Substitute("Requests around $0 take $1, those around p50 $2. $3",
                          PercentileText(tail),
                          base::HumanDuration(tail.mean_ns()),
                          base::HumanDuration(median.mean_ns()), outcome);
}

std::string CountText(const ReportedBlame::LastCount& count) {
  return absl::StrFormat(
      "%d of %d (expected of equals: %.0f, by chance at most %d)",
      count.last_count(), count.fanout_count(), count.expected_count(),
      count.most_by_chance());
}

std::string StragglerSentence(const ReportedBlame::Straggler& straggler) {
  const std::string in_tail =
      straggler.tail().fanout_count() == 0
          ? ""
          : absl::StrCat("; of those that requests around p99 waited for, in ",
                         CountText(straggler.tail()));
  return absl::Substitute(
      "$0 is a straggler: of the fanouts of $1 with it, it was the last to "
      "answer in $2$3.",
      straggler.instance(), straggler.rpc(), CountText(straggler.all()),
      in_tail);
}

// p99 of either message.
template <typename Message>
std::string P99Text(const Message& message) {
  return absl::Substitute("$0 ($1 to $2)",
                          base::HumanDuration(message.p99_ns()),
                          base::HumanDuration(message.p99_ns_lower()),
                          base::HumanDuration(message.p99_ns_upper()));
}

// Adds what everything else comes to: texts for people, the most important
// first.
void AddSentences(BlamedRequests& blame) {
  const auto add = [&](std::string text) {
    blame.add_sentences(std::move(text));
  };
  for (int i = kTail; i < blame.quantiles_size(); ++i) {
    if (blame.quantiles(i).trace_count() == 0) continue;
    add(ExcessSentence(blame.quantiles(i), blame.quantiles(kMedian)));
  }
  for (int i = 0; i < std::min(blame.stragglers_size(), kMostNamed); ++i) {
    if (!blame.stragglers(i).is_to_blame()) break;
    add(StragglerSentence(blame.stragglers(i)));
  }
  const ReportedBlame::WhatIfs& what_ifs = blame.what_ifs();
  for (int i = 0; i < std::min(what_ifs.remedies_size(), kMostNamed); ++i) {
    const ReportedBlame::Remedy& remedy = what_ifs.remedies(i);
    add(absl::Substitute(
        "If $0 answered $1 as fast as the other instances, p99 would be $2 "
        "instead of $3.",
        remedy.instance(), remedy.rpc(), P99Text(remedy), P99Text(what_ifs)));
  }
  for (const ReportedBlame::Quantile& quantile : blame.quantiles()) {
    if (quantile.trace_count() > 0) continue;
    add(absl::StrFormat(
        "%s: too few traces. It needs %d complete ones, and there are %d.",
        PercentileText(quantile), quantile.needed_count(),
        blame.trace_count()));
  }
}

}  // namespace

BlamedRequests BlameFor(const TracedRequests& requests) {
  BlamedRequests blame = requests.reported;
  const std::vector<TailWindow> windows = WindowsOf(requests);
  const auto quantiles = SharesIn(requests, windows);
  blame.mutable_quantiles()->Assign(quantiles.begin(), quantiles.end());
  const auto stragglers = FindStragglers(requests, windows[kTail]);
  blame.set_tested_instance_count(static_cast<int64_t>(stragglers.size()));
  blame.mutable_stragglers()->Assign(
      stragglers.begin(), stragglers.begin() + std::min(std::ssize(stragglers),
                                                        kMostListedStragglers));
  if (!windows[kTail].trees.empty()) {
    *blame.mutable_what_ifs() = TryRemedies(requests, windows[kTail]);
  }
  AddSentences(blame);
  return blame;
}

std::optional<ReportedBlame> FindBlame(const TestResult& result) {
  const TracedTest test = CollectRequests(result);
  if (test.requests.empty() && test.rootless_count == 0) return std::nullopt;
  ReportedBlame blame;
  blame.set_rootless_count(test.rootless_count);
  blame.set_dropped_sample_count(test.dropped_sample_count);
  for (const TracedRequests& requests : test.requests) {
    *blame.add_requests() = BlameFor(requests);
  }
  return blame;
}

namespace {

constexpr char kNoTraces[] =
    "The test traced no requests. To trace them, give the RPC that begins a "
    "request a tracing_interval, such as 100 for every 100th; set "
    "measure_time_parts: true to divide the time of each RPC.\n";

// Says what was analysed, and what was not.
void AppendCounts(const BlamedRequests& requests, std::string& text) {
  const std::pair<const char*, int64_t> counts[] = {
      {"incomplete", requests.incomplete_count()},
      {"failed", requests.failed_count()},
      {"of the warm-up", requests.warmup_count()},
      {"damaged", requests.damaged_count()}};
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : counts) {
    if (count > 0) left_out.push_back(absl::StrCat(count, " ", reason));
  }
  absl::StrAppendFormat(
      &text, "  %d complete traces of %d RPCs that succeeded%s%s\n",
      requests.trace_count(), requests.succeeded_count(),
      left_out.empty() ? "" : "; left out: ", absl::StrJoin(left_out, ", "));
  if (requests.moved_call_count() > 0) {
    absl::StrAppendFormat(
        &text,
        "  %d of %d RPCs were moved into the time of the RPC that caused them, "
        "because clocks differ\n",
        requests.moved_call_count(), requests.call_count());
  }
}

// A column for each quantile and, in the tail, another for the excess. Rows are
// in the order of the last quantile, then of those before.
report::PageTable SharesTable(const BlamedRequests& blame) {
  report::PageTable table = {{"share of time"}, {}};
  for (const ReportedBlame::Quantile& quantile : blame.quantiles()) {
    table.titles.push_back(PercentileText(quantile));
    table.titles.push_back(PercentileText(quantile) + " beyond p50");
  }
  std::map<std::string, size_t> rows;
  for (int i = blame.quantiles_size() - 1; i >= 0; --i) {
    for (const ReportedBlame::BlameShare& share : blame.quantiles(i).shares()) {
      const std::string name =
          base::PrintableLine(absl::StrCat(share.rpc(), " ", share.part()));
      const auto [row, is_new] = rows.emplace(name, table.rows.size());
      if (is_new) {
        table.rows.emplace_back(table.titles.size());
        table.rows.back()[0].text = name;
      }
      std::vector<report::ColoredText>& cells = table.rows[row->second];
      cells[2 * i + 1].text =
          ShareText(share.share(), share.share_lower(), share.share_upper());
      if (!share.has_excess()) continue;
      cells[2 * i + 2].text =
          ShareText(share.excess(), share.excess_lower(), share.excess_upper());
    }
  }
  return table;
}

void AppendRequests(const BlamedRequests& blame, std::string& text) {
  absl::StrAppend(&text, "Blame: ", base::PrintableLine(blame.rpc()), ", ",
                  blame.latency() == "response_time" ? "response" : "service",
                  " time\n");
  AppendCounts(blame, text);
  for (const ReportedBlame::Quantile& quantile : blame.quantiles()) {
    if (quantile.trace_count() == 0) continue;
    absl::StrAppendFormat(&text, "  around %s: %d traces, mean %s\n",
                          PercentileText(quantile), quantile.trace_count(),
                          base::HumanDuration(quantile.mean_ns()));
  }
  absl::StrAppend(&text, "\n");
  for (const std::string& sentence : blame.sentences()) {
    absl::StrAppend(&text, report::Paragraph(
                               {"  -"}, base::PrintableLine(sentence), 4, {}));
  }
  const report::PageTable shares = SharesTable(blame);
  if (shares.rows.empty()) return;
  absl::StrAppend(&text, "\n  Where the time went\n",
                  report::RenderTable(shares, report::kUnbroken));
}

}  // namespace

std::string BlameText(absl::Span<const report::TestRun> runs) {
  std::string text;
  for (const report::TestRun& run : runs) {
    absl::StrAppend(
        &text, "Test: ",
        base::PrintableLine(report::MarkedName(run.name, *run.result)),
        report::RunNumber(run), "\n");
    const std::optional<ReportedBlame> blame = FindBlame(*run.result);
    if (!blame.has_value()) {
      absl::StrAppend(&text, kNoTraces);
      continue;
    }
    if (blame->dropped_sample_count() > 0) {
      absl::StrAppend(&text, blame->dropped_sample_count(),
                      " samples of RPCs were not kept (sample_memory_bytes)\n");
    }
    if (blame->rootless_count() > 0) {
      absl::StrAppend(&text, blame->rootless_count(),
                      " parts of requests are left out, because their first "
                      "RPC was not kept\n");
    }
    for (const BlamedRequests& requests : blame->requests()) {
      AppendRequests(requests, text);
    }
  }
  return text;
}

}  // namespace distbench::blame
