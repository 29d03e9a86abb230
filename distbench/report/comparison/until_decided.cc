// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/until_decided.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::report {
namespace {

constexpr char kAttribute[] = "until_decided";

absl::Status WrongAttribute(absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(
      "their attribute ", kAttribute, " ", problem,
      "; compare the files of one ab_test, as it has written them"));
}

// Returns the most runs by the attribute; 0 without it.
absl::StatusOr<int> MostRuns(const TestRun& run) {
  const auto& attributes = run.result->traffic_config().attributes();
  const auto found = attributes.find(kAttribute);
  if (found == attributes.end()) return 0;
  int most_runs = 0;
  if (!absl::SimpleAtoi(found->second, &most_runs) || most_runs < kFirstLook ||
      most_runs > stats::kMaxLooks) {
    return WrongAttribute(absl::StrCat("is \"", found->second,
                                       "\", not a number from ", kFirstLook,
                                       " to ", stats::kMaxLooks));
  }
  return most_runs;
}

}  // namespace

void MarkUntilDecided(int most_runs, TestResult& result) {
  (*result.mutable_traffic_config()->mutable_attributes())[kAttribute] =
      absl::StrCat(most_runs);
}

absl::StatusOr<std::optional<stats::LookPlan>> LookPlanOf(
    absl::Span<const TestRun> base, absl::Span<const TestRun> next) {
  std::optional<int> most_runs;
  for (const absl::Span<const TestRun> group : {base, next}) {
    for (const TestRun& run : group) {
      const absl::StatusOr<int> in_run = MostRuns(run);
      if (!in_run.ok()) return in_run.status();
      if (most_runs.value_or(*in_run) != *in_run) {
        return WrongAttribute("differs between runs");
      }
      most_runs = *in_run;
    }
  }
  if (most_runs.value_or(0) == 0) return std::nullopt;
  if (std::max(base.size(), next.size()) > static_cast<size_t>(*most_runs)) {
    return WrongAttribute(absl::StrCat("allows ", *most_runs,
                                       " runs of each, and there are ",
                                       std::max(base.size(), next.size())));
  }
  return stats::LookPlan{kFirstLook, *most_runs};
}

}  // namespace distbench::report
