// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison_formats/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/compare.h"

namespace distbench::report {
namespace {

// Of metrics of tests and of searches.
VerdictCounts CountAllVerdicts(const ComparisonReport& report) {
  VerdictCounts counts = CountVerdicts(report.tests);
  for (const CapacityComparison& question : report.capacities.questions) {
    for (const CapacityRatio& ratio : question.ratios) {
      ++counts[JudgeRatio(ratio, question)];
    }
  }
  return counts;
}

// The verdicts that the headline goes by. It says the worst of many, so each of
// them must hold with an error that leaves all together that of one
// (Bonferroni).
VerdictCounts CountClearVerdicts(const ComparisonReport& report,
                                 const VerdictCounts& all) {
  const double error =
      (1 - kCompareConfidence) / std::max(1, all.judged() + all.distributions);
  VerdictCounts clear;
  for (const PlacedMetric& placed : MetricsWorstFirst(report)) {
    ++clear[VerdictAt(1 - error, *placed.metric)];
  }
  for (const TestComparison& test : report.tests) {
    for (const RpcComparison& rpc : test.rpcs) {
      const std::optional<double>& p_value = rpc.distribution.p_value;
      if (p_value && *p_value <= error) ++clear.differing_distributions;
    }
  }
  for (const CapacityComparison& question : report.capacities.questions) {
    for (const CapacityRatio& ratio : question.ratios) {
      ++clear[JudgeRatio(ratio, question, 1 - error)];
    }
  }
  return clear;
}

int CountChanges(const VerdictCounts& counts) {
  return counts[ComparisonVerdict::kWorse] +
         counts[ComparisonVerdict::kBetter] +
         counts[ComparisonVerdict::kDiffers] + counts.differing_distributions;
}

int CountChecks(const ComparisonReport& report, CheckVerdict verdict) {
  return static_cast<int>(std::count_if(
      report.checks.begin(), report.checks.end(),
      [&](const Check& check) { return check.verdict == verdict; }));
}

int CountInvalid(const ComparisonReport& report) {
  int count = 0;
  for (const TestComparison& test : report.tests) count += test.is_invalid;
  return count;
}

// Tests and searches that were not compared, although they are valid.
int CountNotCompared(const ComparisonReport& report) {
  int count = 0;
  for (const TestComparison& test : report.tests) {
    if (!test.not_comparable.empty() && !test.is_invalid) ++count;
  }
  for (const CapacityComparison& question : report.capacities.questions) {
    if (!question.not_comparable.empty()) ++count;
  }
  return count;
}

std::string VerdictOnChecks(const ComparisonReport& report) {
  if (AllPass(report.checks, report.allow_undecided)) return "passed";
  return CountChecks(report, CheckVerdict::kFail) > 0 ? "failed" : "undecided";
}

std::string VerdictOnMetrics(const VerdictCounts& counts) {
  if (counts[ComparisonVerdict::kWorse] > 0) return "worse";
  if (counts[ComparisonVerdict::kBetter] > 0) return "better";
  if (counts[ComparisonVerdict::kDiffers] > 0 ||
      counts.differing_distributions > 0) {
    return "differs";
  }
  if (counts.judged() > 0) return "no difference";
  return counts[ComparisonVerdict::kNotShown] > 0 ? "not shown"
                                                  : "not comparable";
}

std::string OverallVerdict(const ComparisonReport& report,
                           const VerdictCounts& clear) {
  if (CountInvalid(report) > 0) return "invalid";
  return report.checks.empty() ? VerdictOnMetrics(clear)
                               : VerdictOnChecks(report);
}

// Appends a sentence such as "Conditions: 1 failed, 2 passed." about the counts
// that are not 0.
void AppendCounts(
    absl::string_view title,
    std::initializer_list<std::pair<int, absl::string_view>> counts,
    std::string& text) {
  std::vector<std::string> parts;
  for (const auto& [count, what] : counts) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  }
  if (parts.empty()) return;
  absl::StrAppend(&text, text.empty() ? "" : " ", title, ": ",
                  absl::StrJoin(parts, ", "), ".");
}

// Differences of shares count as much as equal relative changes.
double SizeOfChange(const MetricComparison& metric) {
  if (metric.verdict == ComparisonVerdict::kNotComparable) return 0;
  return IsByRatio(metric) ? std::abs(std::log(metric.change.estimate))
                           : std::abs(metric.change.estimate);
}

// "Base is real, new is simulated."; empty if all runs are real.
std::string OriginSentence(const ComparisonReport& report) {
  std::string text = DescribeOrigins(report.base.runs, report.next.runs);
  if (text.empty()) return "";
  text.front() = absl::ascii_toupper(text.front());
  return absl::StrCat(text, ".");
}

}  // namespace

Headline HeadlineOf(const ComparisonReport& report) {
  const VerdictCounts counts = CountAllVerdicts(report);
  const VerdictCounts clear = CountClearVerdicts(report, counts);
  Headline headline = {.verdict = OverallVerdict(report, clear),
                       .text = "",
                       .cautions = Cautions(counts, report.tests)};
  headline.text = OriginSentence(report);
  const size_t counts_begin = headline.text.size();
  AppendCounts("Tests",
               {{CountInvalid(report), "not valid"},
                {CountNotCompared(report), "not compared"}},
               headline.text);
  AppendCounts("Conditions",
               {{CountChecks(report, CheckVerdict::kFail), "failed"},
                {CountChecks(report, CheckVerdict::kUndecided), "undecided"},
                {CountChecks(report, CheckVerdict::kPass), "passed"}},
               headline.text);
  AppendCounts(
      "Metrics",
      {{counts[ComparisonVerdict::kWorse], "worse"},
       {counts[ComparisonVerdict::kBetter], "better"},
       {counts[ComparisonVerdict::kDiffers], "different"},
       {counts[ComparisonVerdict::kNoDifference], "without a difference shown"},
       {counts[ComparisonVerdict::kNotShown],
        "with too few runs for a verdict"},
       {counts[ComparisonVerdict::kNotComparable], "not comparable"}},
      headline.text);
  AppendCounts("Distributions", {{counts.differing_distributions, "different"}},
               headline.text);
  // It says why a change is not the verdict. Conditions are, each by itself.
  if (report.checks.empty() && CountChanges(counts) > 0 &&
      CountChanges(clear) == 0) {
    headline.text += " All that changed is what chance may give.";
  }
  if (counts_begin == headline.text.size()) {
    absl::StrAppend(&headline.text, headline.text.empty() ? "" : " ",
                    "Nothing was compared.");
  }
  return headline;
}

std::vector<PlacedMetric> MetricsWorstFirst(const ComparisonReport& report) {
  std::vector<PlacedMetric> metrics;
  for (const TestComparison& test : report.tests) {
    for (const RpcComparison& rpc : test.rpcs) {
      for (const MetricComparison& metric : rpc.metrics) {
        metrics.push_back({&test, &rpc, &metric});
      }
    }
    for (const MetricComparison& metric : test.metrics) {
      metrics.push_back({&test, nullptr, &metric});
    }
  }
  const auto key = [](const PlacedMetric& placed) {
    return std::make_pair(placed.metric->verdict,
                          -SizeOfChange(*placed.metric));
  };
  std::stable_sort(metrics.begin(), metrics.end(),
                   [&](const PlacedMetric& a, const PlacedMetric& b) {
                     return key(a) < key(b);
                   });
  return metrics;
}

std::vector<Check> ChecksWorstFirst(const ComparisonReport& report) {
  std::vector<Check> checks = report.checks;
  const auto rank = [](const Check& check) {
    return check.verdict == CheckVerdict::kFail        ? 0
           : check.verdict == CheckVerdict::kUndecided ? 1
                                                       : 2;
  };
  std::stable_sort(
      checks.begin(), checks.end(),
      [&](const Check& a, const Check& b) { return rank(a) < rank(b); });
  return checks;
}

std::string ComparisonText(const ComparisonReport& report) {
  const Headline headline = HeadlineOf(report);
  return absl::StrCat(
      "Result: ", VerdictWords(headline.verdict), ". ", headline.text, "\n",
      DescribeCapacities(report.capacities), DescribeComparisons(report.tests),
      ChecksText(report.checks));
}

}  // namespace distbench::report
