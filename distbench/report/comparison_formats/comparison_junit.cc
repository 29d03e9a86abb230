// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::report {
namespace {

using Outcome = JunitCase::Outcome;

// Without a condition, nothing has to be better: what is judged passes.
Outcome OutcomeOf(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kBetter:
    case ComparisonVerdict::kWorse:
    case ComparisonVerdict::kDiffers:
    case ComparisonVerdict::kNoDifference:
      return Outcome::kPass;
    case ComparisonVerdict::kNotShown:
    case ComparisonVerdict::kNotComparable:
      return Outcome::kSkipped;
  }
  return Outcome::kSkipped;
}

std::string MetricMessage(const MetricComparison& metric) {
  const std::string verdict = VerdictText(metric);
  if (metric.verdict == ComparisonVerdict::kNotComparable) return verdict;
  return absl::StrCat(verdict, ": ", FormatValue(metric.metric, metric.base),
                      " -> ", FormatValue(metric.metric, metric.next), ", ",
                      FormatChange(metric, metric.change.estimate), " (",
                      FormatInterval(metric), ")");
}

void AppendMetrics(const TestComparison& test, std::vector<JunitCase>& cases) {
  const auto append = [&](std::string name, const MetricComparison& metric) {
    cases.push_back({.suite = test.test,
                     .name = std::move(name),
                     .outcome = OutcomeOf(metric.verdict),
                     .message = absl::StrCat(MetricMessage(metric),
                                             test.origins.empty() ? "" : "; ",
                                             test.origins)});
  };
  for (const RpcComparison& rpc : test.rpcs) {
    for (const MetricComparison& metric : rpc.metrics) {
      append(absl::StrCat(rpc.rpc, " ", stats::MetricName(metric.metric)),
             metric);
    }
  }
  for (const MetricComparison& metric : test.metrics) {
    append(stats::MetricName(metric.metric), metric);
  }
}

void AppendSearch(const CapacityComparison& question,
                  std::vector<JunitCase>& cases) {
  const std::string suite = absl::StrCat("search: ", question.question);
  if (!question.not_comparable.empty()) {
    cases.push_back({.suite = suite,
                     .name = "comparison",
                     .outcome = Outcome::kSkipped,
                     .message = question.not_comparable});
  }
  for (const CapacityRatio& ratio : question.ratios) {
    const ComparisonVerdict verdict = JudgeRatio(ratio, question);
    cases.push_back({.suite = suite,
                     .name = ratio.name,
                     .outcome = OutcomeOf(verdict),
                     .message = absl::StrCat(VerdictWords(VerdictName(verdict)),
                                             ": ", DescribeRatio(ratio))});
  }
}

}  // namespace

std::string ComparisonJunit(const ComparisonReport& report) {
  std::vector<JunitCase> cases;
  for (const TestComparison& test : report.tests) {
    if (test.not_comparable.empty()) continue;
    cases.push_back(
        {.suite = test.test,
         .name = "comparison",
         .outcome = test.is_invalid ? Outcome::kError : Outcome::kSkipped,
         .message = test.not_comparable});
  }
  for (JunitCase& check : JunitCases(report.checks, report.allow_undecided)) {
    cases.push_back(std::move(check));
  }
  if (report.checks.empty()) {
    for (const TestComparison& test : report.tests) AppendMetrics(test, cases);
    for (const CapacityComparison& question : report.capacities.questions) {
      AppendSearch(question, cases);
    }
  }
  return RenderJunit(cases, HeadlineOf(report).cautions);
}

}  // namespace distbench::report
