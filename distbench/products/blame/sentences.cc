#include "distbench/products/blame/sentences.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/terminal/human_units.h"

namespace distbench::blame {
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
  return absl::StrCat(report::HumanDuration(time_ns.value), " (",
                      report::HumanDuration(time_ns.lower), " to ",
                      report::HumanDuration(time_ns.upper), ")");
}

// What makes requests around a quantile slower than those around p50.
std::string ExcessSentence(const RequestBlame& blame, size_t i) {
  const QuantileShares& tail = blame.shares[i];
  const std::string text = absl::StrFormat(
      "Requests around %s take %s, those around p50 %s.",
      PercentileText(kBlamedQuantiles[i]), report::HumanDuration(tail.mean_ns),
      report::HumanDuration(blame.shares[kMedian].mean_ns));
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

}  // namespace distbench::blame
