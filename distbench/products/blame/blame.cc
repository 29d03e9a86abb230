#include "distbench/products/blame/blame.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/human_units.h"
#include "distbench/base/message_json.h"
#include "distbench/base/printable_line.h"
#include "distbench/products/blame/report.pb.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::blame {
namespace {

// Each costs a replay of all requests.
constexpr size_t kMostInstancesTried = 8;
constexpr size_t kMostRpcsTried = 8;

// The instances and RPCs that may be worth making faster: instances to blame,
// those with most of the tail's time, and all RPCs but the request itself.
std::vector<Remedy> RemediesFor(const RequestBlame& blame) {
  std::vector<Remedy> remedies;
  std::set<std::pair<int, int>> known;
  const auto add = [&](int rpc, int instance, size_t most) {
    if (remedies.size() < most && known.insert({rpc, instance}).second) {
      remedies.push_back({rpc, instance});
    }
  };
  for (const Straggler& straggler : blame.stragglers) {
    if (!straggler.is_to_blame) break;
    add(straggler.rpc, straggler.instance, kMostInstancesTried);
  }
  for (const BlameShare& share : blame.shares[kTail].instance_shares) {
    if (share.part == BlamePart::kLateness) continue;
    add(share.rpc, share.instance, kMostInstancesTried);
  }
  const size_t most = remedies.size() + kMostRpcsTried;
  for (const BlameShare& share : blame.shares[kTail].shares) {
    if (share.rpc != 0) add(share.rpc, -1, most);
  }
  return remedies;
}

}  // namespace

RequestBlame BlameFor(TracedRequests requests) {
  RequestBlame blame;
  blame.requests = std::move(requests);
  blame.windows = WindowsOf(blame.requests);
  blame.shares = SharesIn(blame.requests, blame.windows);
  blame.stragglers = FindStragglers(blame.requests, blame.windows[kTail]);
  if (!blame.windows[kTail].trees.empty()) {
    blame.what_ifs = TryRemedies(blame.requests, RemediesFor(blame));
  }
  blame.sentences = SentencesOf(blame);
  return blame;
}

std::optional<TestBlame> FindBlame(const TestResult& result) {
  TracedTest test = CollectRequests(result);
  if (test.requests.empty() && test.rootless_count == 0) return std::nullopt;
  TestBlame blame = {.rootless_count = test.rootless_count,
                     .dropped_sample_count = test.dropped_sample_count};
  for (TracedRequests& requests : test.requests) {
    blame.requests.push_back(BlameFor(std::move(requests)));
  }
  return blame;
}

namespace {

constexpr size_t kMostNamedStragglers = 5;
constexpr size_t kMostNamedRemedies = 5;

std::string PartText(const TracedRequests& requests, const BlameShare& share) {
  const std::string& rpc = requests.rpcs[share.rpc];
  switch (share.part) {
    case BlamePart::kLateness:
      return absl::StrCat("lateness, the wait of ", rpc, " in its client");
    case BlamePart::kNetwork:
      return absl::StrCat("the network and both stacks of ", rpc);
    case BlamePart::kServerQueue:
      return absl::StrCat("the server queue of ", rpc);
    case BlamePart::kServerHandler:
      return absl::StrCat("the handler of ", rpc);
    case BlamePart::kUndivided:
      return absl::StrCat(rpc, " itself, without the RPCs that it waits for");
  }
  return "";
}

std::string TimeText(const BlameEstimate& time_ns) {
  return absl::StrCat(base::HumanDuration(time_ns.value), " (",
                      base::HumanDuration(time_ns.lower), " to ",
                      base::HumanDuration(time_ns.upper), ")");
}

// What makes requests around a quantile slower than those around p50.
std::string ExcessSentence(const RequestBlame& blame, size_t i) {
  const QuantileShares& tail = blame.shares[i];
  const std::string text = absl::StrFormat(
      "Requests around %s take %s, those around p50 %s.",
      PercentileText(kBlamedQuantiles[i]), base::HumanDuration(tail.mean_ns),
      base::HumanDuration(blame.shares[kMedian].mean_ns));
  const BlameShare* cause = MainCause(tail);
  if (cause != nullptr) {
    return absl::StrCat(text, " ", ShareText(*cause->of_excess),
                        " of the difference is ",
                        PartText(blame.requests, *cause), ".");
  }
  return absl::StrCat(
      text, " No single part is shown to make up most of the difference.");
}

std::string CountText(const LastCount& count) {
  return absl::StrFormat(
      "%d of %d (expected of equals: %.0f, by chance at most %d)",
      count.last_count, count.fanout_count, count.expected_count,
      count.most_by_chance);
}

std::string StragglerSentence(const RequestBlame& blame,
                              const Straggler& straggler) {
  std::string text = absl::StrCat(
      blame.requests.instances[straggler.instance],
      " is a straggler: of the fanouts of ", blame.requests.rpcs[straggler.rpc],
      " with it, it was the last to answer in ", CountText(straggler.of_all));
  if (straggler.of_tail.fanout_count > 0) {
    absl::StrAppend(&text,
                    "; of those that requests around p99 waited for, in ",
                    CountText(straggler.of_tail));
  }
  return absl::StrCat(text, ".");
}

std::string RemedySentence(const RequestBlame& blame, const WhatIf& what_if) {
  const std::string& rpc = blame.requests.rpcs[what_if.remedy.rpc];
  const int instance = what_if.remedy.instance;
  const std::string condition =
      instance < 0
          ? absl::StrCat("every ", rpc, " took its median")
          : absl::StrCat(blame.requests.instances[instance], " answered ", rpc,
                         " as fast as the other instances");
  return absl::StrCat("If ", condition, ", p99 would be ",
                      TimeText(what_if.then_ns), " instead of ",
                      TimeText(blame.what_ifs->now_ns), ".");
}

}  // namespace

std::string ShareText(const BlameEstimate& share) {
  return absl::StrFormat("%.0f%% (%.0f%% to %.0f%%)", 100 * share.value,
                         100 * share.lower, 100 * share.upper);
}

std::string PercentileText(double quantile) {
  return absl::StrFormat("p%g", 100 * quantile);
}

std::vector<std::string> SentencesOf(const RequestBlame& blame) {
  std::vector<std::string> sentences;
  for (size_t i = kTail; i < std::size(kBlamedQuantiles); ++i) {
    if (blame.windows[i].trees.empty()) continue;
    sentences.push_back(ExcessSentence(blame, i));
  }
  size_t named = 0;
  for (const Straggler& straggler : blame.stragglers) {
    if (!straggler.is_to_blame || ++named > kMostNamedStragglers) break;
    sentences.push_back(StragglerSentence(blame, straggler));
  }
  if (blame.what_ifs.has_value()) {
    const std::vector<WhatIf>& helpful = blame.what_ifs->helpful;
    for (size_t i = 0; i < std::min(helpful.size(), kMostNamedRemedies); ++i) {
      sentences.push_back(RemedySentence(blame, helpful[i]));
    }
  }
  for (size_t i = 0; i < std::size(kBlamedQuantiles); ++i) {
    if (!blame.windows[i].trees.empty()) continue;
    sentences.push_back(absl::StrFormat(
        "%s: too few traces. It needs %d complete ones, and there are %d.",
        PercentileText(kBlamedQuantiles[i]), blame.windows[i].needed_count,
        blame.requests.trees.size()));
  }
  return sentences;
}

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
  return base::PrintableLine(name);
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
        {{base::PrintableLine(name)},
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
  absl::StrAppend(&text, "Blame: ", base::PrintableLine(requests.rpcs.front()),
                  ", ", requests.is_open_loop ? "response" : "service",
                  " time\n");
  AppendCounts(requests, text);
  for (const size_t window : ShownWindows(blame)) {
    absl::StrAppendFormat(&text, "  around %s: %d traces, mean %s\n",
                          PercentileText(kBlamedQuantiles[window]),
                          blame.windows[window].trees.size(),
                          base::HumanDuration(blame.shares[window].mean_ns));
  }
  absl::StrAppend(&text, "\n");
  for (const std::string& sentence : blame.sentences) {
    absl::StrAppend(&text, report::Paragraph(
                               {"  -"}, base::PrintableLine(sentence), 4, {}));
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
    absl::StrAppend(
        &text, "Test: ",
        base::PrintableLine(report::MarkedName(run.name, *run.result)),
        report::RunNumber(run), "\n");
    if (const auto blame = FindBlame(*run.result)) {
      AppendTest(*blame, text);
    } else {
      absl::StrAppend(&text, kNoTraces, "\n");
    }
  }
  return text;
}

namespace {

// Sets the fields "share", "share_lower" and "share_upper" so.
template <typename Message>
void SetEstimate(const BlameEstimate& estimate, void (Message::*set)(double),
                 void (Message::*set_lower)(double),
                 void (Message::*set_upper)(double), Message& message) {
  (message.*set)(estimate.value);
  (message.*set_lower)(estimate.lower);
  (message.*set_upper)(estimate.upper);
}

template <typename Message>
void SetInstance(const TracedRequests& requests, int instance,
                 Message& message) {
  if (instance >= 0) message.set_instance(requests.instances[instance]);
}

ReportedBlame::BlameShare ReportShare(const TracedRequests& requests,
                                      const BlameShare& share) {
  using Shown = ReportedBlame::BlameShare;
  Shown shown;
  shown.set_rpc(requests.rpcs[share.rpc]);
  SetInstance(requests, share.instance, shown);
  shown.set_part(std::string(NameOf(share.part)));
  SetEstimate(share.of_time, &Shown::set_share, &Shown::set_share_lower,
              &Shown::set_share_upper, shown);
  if (share.of_excess) {
    SetEstimate(*share.of_excess, &Shown::set_excess, &Shown::set_excess_lower,
                &Shown::set_excess_upper, shown);
  }
  return shown;
}

void ReportQuantiles(const RequestBlame& blame,
                     ReportedBlame::BlamedRequests& shown) {
  for (size_t i = 0; i < std::size(kBlamedQuantiles); ++i) {
    const TailWindow& window = blame.windows[i];
    const QuantileShares& shares = blame.shares[i];
    ReportedBlame::Quantile& quantile = *shown.add_quantiles();
    quantile.set_percentile(100 * kBlamedQuantiles[i]);
    quantile.set_trace_count(static_cast<int64_t>(window.trees.size()));
    quantile.set_needed_count(static_cast<int64_t>(window.needed_count));
    if (!window.trees.empty()) quantile.set_mean_ns(shares.mean_ns);
    for (const BlameShare& share : shares.shares) {
      *quantile.add_shares() = ReportShare(blame.requests, share);
    }
    for (const BlameShare& share : shares.instance_shares) {
      *quantile.add_instances() = ReportShare(blame.requests, share);
    }
  }
}

void ReportLast(const LastCount& count, ReportedBlame::LastCount& shown) {
  shown.set_fanout_count(count.fanout_count);
  shown.set_last_count(count.last_count);
  shown.set_expected_count(count.expected_count);
  shown.set_most_by_chance(count.most_by_chance);
  shown.set_is_straggler(count.is_straggler);
}

void ReportStragglers(const RequestBlame& blame,
                      ReportedBlame::BlamedRequests& shown) {
  for (const Straggler& straggler : blame.stragglers) {
    const auto listed_count = static_cast<size_t>(shown.stragglers_size());
    if (listed_count == kMostListedStragglers) break;
    ReportedBlame::Straggler& listed = *shown.add_stragglers();
    listed.set_rpc(blame.requests.rpcs[straggler.rpc]);
    SetInstance(blame.requests, straggler.instance, listed);
    listed.set_is_to_blame(straggler.is_to_blame);
    ReportLast(straggler.of_all, *listed.mutable_all());
    ReportLast(straggler.of_tail, *listed.mutable_tail());
    listed.set_own_share(straggler.own_share);
    listed.set_tail_share(straggler.tail_share);
  }
  shown.set_tested_instance_count(
      static_cast<int64_t>(blame.stragglers.size()));
}

void ReportWhatIfs(const RequestBlame& blame, ReportedBlame::WhatIfs& shown) {
  using Now = ReportedBlame::WhatIfs;
  using Remedy = ReportedBlame::Remedy;
  SetEstimate(blame.what_ifs->now_ns, &Now::set_p99_ns, &Now::set_p99_ns_lower,
              &Now::set_p99_ns_upper, shown);
  for (const WhatIf& what_if : blame.what_ifs->helpful) {
    Remedy& remedy = *shown.add_remedies();
    remedy.set_rpc(blame.requests.rpcs[what_if.remedy.rpc]);
    SetInstance(blame.requests, what_if.remedy.instance, remedy);
    SetEstimate(what_if.then_ns, &Remedy::set_p99_ns, &Remedy::set_p99_ns_lower,
                &Remedy::set_p99_ns_upper, remedy);
    SetEstimate(what_if.saving, &Remedy::set_saving, &Remedy::set_saving_lower,
                &Remedy::set_saving_upper, remedy);
  }
}

void ReportRequests(const RequestBlame& blame,
                    ReportedBlame::BlamedRequests& shown) {
  const TracedRequests& requests = blame.requests;
  shown.set_rpc(requests.rpcs.front());
  shown.set_latency(requests.is_open_loop ? "response_time" : "service_time");
  shown.set_trace_count(static_cast<int64_t>(requests.trees.size()));
  shown.set_succeeded_count(requests.succeeded_count);
  shown.set_incomplete_count(requests.incomplete_count);
  shown.set_failed_count(requests.failed_count);
  shown.set_warmup_count(requests.warmup_count);
  shown.set_damaged_count(requests.damaged_count);
  shown.set_call_count(requests.call_count);
  shown.set_moved_call_count(requests.moved_call_count);
  shown.mutable_sentences()->Assign(blame.sentences.begin(),
                                    blame.sentences.end());
  ReportQuantiles(blame, shown);
  ReportStragglers(blame, shown);
  if (blame.what_ifs) ReportWhatIfs(blame, *shown.mutable_what_ifs());
}

}  // namespace

base::Json BlameJson(const TestResult& result) {
  const std::optional<TestBlame> blame = FindBlame(result);
  if (!blame) return nullptr;
  ReportedBlame shown;
  shown.set_rootless_count(blame->rootless_count);
  shown.set_dropped_sample_count(blame->dropped_sample_count);
  for (const RequestBlame& requests : blame->requests) {
    ReportRequests(requests, *shown.add_requests());
  }
  return base::MessageJson(shown);
}

}  // namespace distbench::blame
