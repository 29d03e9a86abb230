// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/run_headline.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {
namespace {

int64_t CountOf(CheckVerdict verdict, absl::Span<const Check> checks) {
  return absl::c_count_if(
      checks, [&](const Check& check) { return check.verdict == verdict; });
}

std::string Plural(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string CountsText(absl::Span<const Check> checks) {
  if (checks.empty()) return "";
  constexpr std::pair<CheckVerdict, absl::string_view> kWords[] = {
      {CheckVerdict::kPass, "met"},
      {CheckVerdict::kFail, "missed"},
      {CheckVerdict::kUndecided, "undecided"}};
  std::vector<std::string> counts;
  for (const auto& [verdict, word] : kWords) {
    const int64_t count = CountOf(verdict, checks);
    if (count > 0) counts.push_back(absl::StrCat(count, " ", word));
  }
  return absl::StrCat(absl::StrJoin(counts, ", "), " of ",
                      Plural(static_cast<int64_t>(checks.size()), "objective"));
}

int64_t CountWarnings(const TestResult& result, const TestTotals& totals) {
  const std::vector<Finding> findings = FindingsOf(result, totals);
  return absl::c_count_if(findings,
                          [](const Finding& finding) {
                            return finding.severity() == Finding::WARN;
                          }) +
         absl::c_count_if(result.service_logs().instance_logs(),
                          [](const auto& instance) {
                            return instance.second.has_engine_error_message();
                          });
}

}  // namespace

RunHeadline HeadlineOf(const TestResult& result, const TestTotals& totals,
                       absl::Span<const Check> objectives) {
  RunHeadline headline = {.verdict = RunVerdict(result, totals),
                          .objectives = CountsText(objectives),
                          .warning_count = CountWarnings(result, totals)};
  if (headline.verdict != "ok" && headline.verdict != "warn") return headline;
  if (CountOf(CheckVerdict::kFail, objectives) > 0) {
    headline.verdict = "missed";
  } else if (CountOf(CheckVerdict::kUndecided, objectives) > 0) {
    headline.verdict = "undecided";
  } else if (totals.all.succeeded_count == 0) {
    headline.verdict = "nothing measured";
  } else if (headline.warning_count > 0) {
    headline.verdict = "warn";
  }
  return headline;
}

std::string DoubtsText(const RunHeadline& headline) {
  if (headline.objectives.empty() || headline.warning_count == 0) {
    return headline.objectives;
  }
  return absl::StrCat(headline.objectives, "; ",
                      Plural(headline.warning_count, "warning"));
}

}  // namespace distbench::report
