// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison_page/comparison_page.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string PageOf(const TestResult& base, const TestResult& next) {
  const std::vector<SourcedResults> base_results = Sourced({base});
  const std::vector<SourcedResults> next_results = Sourced({next});
  ComparisonReport report = {.base = {"base.pb", ListRuns(base_results)},
                             .next = {"new.pb", ListRuns(next_results)},
                             .tests = {}};
  report.tests = Compare(report.base.runs, report.next.runs, {});
  return RenderComparisonPage(report);
}

TEST(ComparisonPageTest, IsOnePageWithEverythingInIt) {
  const std::string page =
      PageOf(MakeExampleResult({}), MakeExampleResult({.slowness = 2}));
  EXPECT_TRUE(absl::StartsWith(page, "<!DOCTYPE html>"));
  EXPECT_TRUE(absl::EndsWith(page, "</html>\n"));
  EXPECT_THAT(page, HasSubstr("\"schema\":\"distbench comparison\""));
  EXPECT_THAT(page, HasSubstr("\"schema\":\"distbench report\""));
  EXPECT_THAT(page, HasSubstr("Chart.js v"));
  EXPECT_THAT(page, HasSubstr("The above copyright notice"));
  // The page loads nothing, and no placeholder is left.
  for (const char* reference : {"<link", " src=", "@import", "url(http"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  for (const char* mark : {"{{style}}", "{{runs}}", "{{comparison}}",
                           "{{library}}", "{{script}}"}) {
    EXPECT_THAT(page, Not(HasSubstr(mark)));
  }
}

TEST(ComparisonPageTest, LeavesOutWhatItDoesNotShow) {
  const std::string page = PageOf(MakeExampleResult({}), MakeExampleResult({}));
  EXPECT_THAT(page, Not(HasSubstr("\"rows\":[[\"node")));
}

TEST(ComparisonPageTest, NamesCanNotBecomeMarkup) {
  TestResult result = MakeExampleResult({});
  result.mutable_traffic_config()->set_name(kHostileName);
  result.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      absl::StrCat("<!--{{script}}", kHostileName));
  const std::string page = PageOf(result, result);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("\\u003cimg"));
  EXPECT_THAT(page, Not(HasSubstr("<!--{{script}}")));
}

}  // namespace
}  // namespace distbench::report
