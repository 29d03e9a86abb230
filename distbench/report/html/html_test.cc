// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/html/html.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlTest, IsOnePageWithEverythingInIt) {
  const std::string page =
      RenderHtml(InputOf(Sourced({MakeExampleResult({})})));
  EXPECT_TRUE(absl::StartsWith(page, "<!DOCTYPE html>"));
  EXPECT_TRUE(absl::EndsWith(page, "</html>\n"));
  EXPECT_THAT(page, HasSubstr("Chart.js v"));
  EXPECT_THAT(page, HasSubstr("The above copyright notice"));
  EXPECT_THAT(page, HasSubstr("\"schema\":\"distbench report\""));
  // The page loads nothing, and no placeholder is left.
  for (const char* reference : {"<link", " src=", "@import", "url(http"}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
  for (const char* mark : {"{{style}}", "{{data}}", "{{script}}"}) {
    EXPECT_THAT(page, Not(HasSubstr(mark)));
  }
}

TEST(HtmlTest, NamesCanNotBecomeMarkup) {
  TestResult result = MakeExampleResult({});
  result.mutable_traffic_config()->set_name(kHostileName);
  result.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      absl::StrCat("<!--{{script}}", kHostileName));
  const std::string page = RenderHtml(InputOf(Sourced({result})));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("\\u003cimg"));
  EXPECT_THAT(page, Not(HasSubstr("<!--{{script}}")));
}

// All scripts share one scope, in which the last of two functions would win.
TEST(HtmlTest, FunctionsHaveDifferentNames) {
  const std::string page =
      RenderHtml(InputOf(Sourced({MakeExampleResult({})})));
  std::set<absl::string_view> names;
  for (absl::string_view line : absl::StrSplit(page, '\n')) {
    if (!absl::ConsumePrefix(&line, "function ")) continue;
    const absl::string_view name = line.substr(0, line.find('('));
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_GT(names.size(), 50);
}

}  // namespace
}  // namespace distbench::report
