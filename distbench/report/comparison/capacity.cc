// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/capacity.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/plugins.h"
#include "distbench/report/comparison/compare.h"

namespace distbench::report {

bool HasChosenLoad(const TestRun& run) {
  const auto& sources = base::Plugins<CapacitySource>::All();
  return std::any_of(sources.begin(), sources.end(), [&](const auto& source) {
    return source.second->chose_loads(*run.sequence);
  });
}

std::string FoundLoads(const TestSequenceResults& results) {
  std::vector<std::string> answers;
  for (const auto& [name, source] : base::Plugins<CapacitySource>::All()) {
    std::string answer = source->answer(results);
    if (!answer.empty()) answers.push_back(std::move(answer));
  }
  return absl::StrJoin(answers, "; ");
}

bool IsLoad(const CapacityRatio& ratio) { return ratio.name == "load"; }

namespace {

ComparisonVerdict JudgeThoseThatConverged(const CapacityRatio& ratio,
                                          double tolerance, double confidence) {
  if (!ratio.ratio.interval) return ComparisonVerdict::kNotShown;
  const double resolution = IsLoad(ratio) ? tolerance : kLatencyResolution;
  const double change = ratio.ratio.estimate;
  if (std::max(change, 1 / change) <= 1 + resolution) {
    return ComparisonVerdict::kNoDifference;
  }
  return JudgeChange(
      stats::RatioOfMeans(ratio.base_values, ratio.next_values, confidence),
      /*no_change=*/1, /*resolution=*/0, /*higher_is_better=*/IsLoad(ratio));
}

}  // namespace

ComparisonVerdict JudgeRatio(const CapacityRatio& ratio,
                             const CapacityComparison& comparison,
                             double confidence) {
  const ComparisonVerdict verdict =
      JudgeThoseThatConverged(ratio, comparison.tolerance, confidence);
  const SearchCounts& base = comparison.base_searches;
  const SearchCounts& next = comparison.next_searches;
  // The shares that converged, times both numbers of searches.
  const int base_share = base.converged * next.all;
  const int next_share = next.converged * base.all;
  if (base_share == next_share) return verdict;
  const ComparisonVerdict unfavourable = next_share < base_share
                                             ? ComparisonVerdict::kWorse
                                             : ComparisonVerdict::kBetter;
  return verdict == unfavourable ? verdict : ComparisonVerdict::kNotShown;
}

std::vector<TestRun> ListPlainRuns(absl::Span<const SourcedResults> results) {
  std::vector<TestRun> runs = ListRuns(results);
  std::erase_if(runs, HasChosenLoad);
  return runs;
}

CapacityComparisons CompareCapacities(absl::Span<const SourcedResults> base,
                                      absl::Span<const SourcedResults> next,
                                      bool allow_different_traffic) {
  CapacityComparisons all;
  for (const auto& [name, source] :
       ::distbench::base::Plugins<CapacitySource>::All()) {
    const CapacityComparisons own =
        source->compare(base, next, allow_different_traffic);
    all.notes.insert(all.notes.end(), own.notes.begin(), own.notes.end());
    all.questions.insert(all.questions.end(), own.questions.begin(),
                         own.questions.end());
  }
  return all;
}

namespace {

std::string ValueText(const CapacityRatio& ratio, double value) {
  return IsLoad(ratio) ? absl::StrFormat("%.6g", value)
                       : base::HumanDuration(value);
}

std::string IntervalText(const CapacityRatio& ratio) {
  const auto& interval = ratio.ratio.interval;
  if (!interval) return "-";
  return absl::StrFormat("x%.3f to x%.3f", interval->lower, interval->upper);
}

std::string VerdictText(const CapacityRatio& ratio,
                        const CapacityComparison& comparison) {
  const ComparisonVerdict verdict = JudgeRatio(ratio, comparison);
  switch (verdict) {
    case ComparisonVerdict::kNotShown:
      return ratio.ratio.interval
                 ? "unknown: not as many searches of both sides converged"
                 : "unknown: a single search does not show how much searches "
                   "vary";
    default:
      return std::string(VerdictWords(VerdictName(verdict)));
  }
}

void AppendRatio(const CapacityRatio& ratio,
                 const CapacityComparison& comparison, std::string& text) {
  absl::StrAppendFormat(&text, "    %-8s %12s %12s %10s  %-22s %s\n",
                        ratio.name, ValueText(ratio, ratio.base),
                        ValueText(ratio, ratio.next),
                        absl::StrFormat("x%.3f", ratio.ratio.estimate),
                        IntervalText(ratio), VerdictText(ratio, comparison));
}

// "169 % of the load of base, with 112 % of its p99".
std::string SentenceFor(const CapacityComparison& comparison) {
  std::string text = "  New carries ";
  const char* joint = ", with ";
  for (const CapacityRatio& ratio : comparison.ratios) {
    const double percent = 100 * ratio.ratio.estimate;
    if (IsLoad(ratio)) {
      absl::StrAppendFormat(&text, "%.0f %% of the load of base", percent);
      continue;
    }
    absl::StrAppendFormat(&text, "%s%.0f %% of its %s", joint, percent,
                          ratio.name);
    joint = " and ";
  }
  return text + ".\n";
}

void AppendQuestion(const CapacityComparison& comparison, std::string& text) {
  const SearchCounts& base = comparison.base_searches;
  const SearchCounts& next = comparison.next_searches;
  absl::StrAppendFormat(
      &text, "Search: %s (converged: base %d of %d, new %d of %d)\n",
      comparison.question, base.converged, base.all, next.converged, next.all);
  if (!comparison.not_comparable.empty()) {
    absl::StrAppend(&text, "  not comparable: ", comparison.not_comparable,
                    "\n");
    return;
  }
  absl::StrAppendFormat(
      &text, "    %-8s %12s %12s %10s  %-22s %s\n", "", "base", "new", "change",
      absl::StrFormat("%.0f %% interval", 100 * kCompareConfidence), "verdict");
  for (const CapacityRatio& ratio : comparison.ratios) {
    AppendRatio(ratio, comparison, text);
  }
  text += SentenceFor(comparison);
}

}  // namespace

std::string DescribeRatio(const CapacityRatio& ratio) {
  return absl::StrCat(ValueText(ratio, ratio.base), " -> ",
                      ValueText(ratio, ratio.next),
                      absl::StrFormat(", x%.3f (", ratio.ratio.estimate),
                      IntervalText(ratio), ")");
}

std::string DescribeCapacities(const CapacityComparisons& comparisons) {
  std::string text;
  if (comparisons.questions.empty()) return text;
  double tolerance = 0;
  for (const CapacityComparison& comparison : comparisons.questions) {
    AppendQuestion(comparison, text);
    tolerance = std::max(tolerance, comparison.tolerance);
  }
  for (const std::string& note : comparisons.notes) {
    absl::StrAppend(&text, "  note: ", note, "\n");
  }
  if (tolerance > 0) {
    absl::StrAppendFormat(&text,
                          "Searches find a load to within up to %g %%; "
                          "latencies are those of their final runs.\n",
                          100 * tolerance);
  }
  return text;
}

}  // namespace distbench::report
