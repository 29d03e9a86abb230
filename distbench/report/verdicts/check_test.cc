// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/verdicts/check.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

TEST(EscapeTest, MarkdownIsShownAsItIs) {
  EXPECT_EQ(MarkdownText("p99 12.1 ms (11.8 to 12.6)"),
            "p99 12.1 ms (11.8 to 12.6)");
  EXPECT_EQ(MarkdownText("a|b`c`*d*[e](f)\\"),
            "a\\|b\\`c\\`\\*d\\*\\[e\\](f)\\\\");
  EXPECT_EQ(MarkdownText("<b>&amp;$x$"), "&lt;b>&amp;amp;&#36;x&#36;");
  EXPECT_EQ(MarkdownText("line\r\nline\tcell"), "line  line cell");
}

TEST(EscapeTest, MarkdownMentionsNobodyAndLinksToNothing) {
  EXPECT_EQ(MarkdownText("@octocat #1"), "@<!-- -->octocat #<!-- -->1");
  EXPECT_EQ(MarkdownText("http://x www.x"), "http:<!-- -->//x www<!-- -->.x");
}

TEST(EscapeTest, XmlIsWellFormed) {
  EXPECT_EQ(XmlText("]]></a b=\"c\">&"),
            "]]&gt;&lt;/a b=&quot;c&quot;&gt;&amp;");
  EXPECT_EQ(XmlText(absl::string_view("a\0b\x1b\x7f", 5)), "a b  ");
  EXPECT_EQ(XmlText("\xef\xbf\xbf"), " ");
}

TEST(EscapeTest, InvalidUtf8IsReplaced) {
  EXPECT_EQ(XmlText("a\xff"
                    "b \xc3\xa4"),
            "a\xef\xbf\xbd"
            "b \xc3\xa4");
  EXPECT_EQ(MarkdownText("\xed\xa0\x80").find('\xed'), std::string::npos);
}

const std::vector<Check>& AllVerdicts() {
  static const auto& checks = *new std::vector<Check>{
      {"t", "p99<=5ms", CheckVerdict::kPass, "p99 4.0 ms"},
      {"t", "a|b>1%", CheckVerdict::kFail, "it is <2> & \"more\"\x01"},
      {"longer", "mean<=1ms", CheckVerdict::kUndecided, "thin"},
  };
  return checks;
}

TEST(CheckTest, PassOnlyIfEachDoes) {
  const auto& checks = AllVerdicts();
  EXPECT_TRUE(AllPass({}, false));
  EXPECT_TRUE(AllPass({checks[0]}, false));
  EXPECT_FALSE(AllPass({checks[0], checks[1]}, true));
  EXPECT_FALSE(AllPass({checks[0], checks[2]}, false));
  EXPECT_TRUE(AllPass({checks[0], checks[2]}, true));
}

TEST(CheckTest, AllBetweenTheBoundsMustKeepALimit) {
  EXPECT_EQ(JudgeBounds(1, 2, 2, true), CheckVerdict::kPass);
  EXPECT_EQ(JudgeBounds(1, 2, 1, true), CheckVerdict::kUndecided);
  EXPECT_EQ(JudgeBounds(1, 2, 0.9, true), CheckVerdict::kFail);
  EXPECT_EQ(JudgeBounds(1, 2, 1, false), CheckVerdict::kPass);
  EXPECT_EQ(JudgeBounds(1, 2, 2, false), CheckVerdict::kUndecided);
  EXPECT_EQ(JudgeBounds(1, 2, 2.1, false), CheckVerdict::kFail);
}

TEST(CheckTest, AnUnknownBoundDecidesNothing) {
  EXPECT_EQ(JudgeBounds({}, {}, 1, true), CheckVerdict::kUndecided);
  EXPECT_EQ(JudgeBounds({}, 2, 1, true), CheckVerdict::kUndecided);
  EXPECT_EQ(JudgeBounds(2, {}, 1, true), CheckVerdict::kFail);
  EXPECT_EQ(JudgeBounds(2, {}, 1, false), CheckVerdict::kPass);
}

TEST(CheckTest, TextHasColumns) {
  EXPECT_EQ(ChecksText({AllVerdicts()[0], AllVerdicts()[2]}),
            "pass       t       p99<=5ms   p99 4.0 ms\n"
            "undecided  longer  mean<=1ms  thin\n");
  EXPECT_EQ(ChecksText({}), "");
}

TEST(CheckTest, MarkdownCellsDoNotEndEarly) {
  EXPECT_THAT(ChecksMarkdown(AllVerdicts()),
              HasSubstr("| FAIL | t | a\\|b>1% | it is &lt;2> &amp; "));
}

TEST(CheckTest, JunitCountsAndEscapes) {
  EXPECT_EQ(
      RenderJunit(JunitCases(AllVerdicts(), /*allow_undecided=*/false)),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"t\" tests=\"2\" failures=\"1\" errors=\"0\" "
      "skipped=\"0\">\n"
      "    <testcase classname=\"t\" name=\"p99&lt;=5ms\">"
      "<system-out>p99 4.0 ms</system-out></testcase>\n"
      "    <testcase classname=\"t\" name=\"a|b&gt;1%\">"
      "<failure message=\"FAIL: it is &lt;2&gt; &amp; &quot;more&quot; \"/>"
      "</testcase>\n"
      "  </testsuite>\n"
      "  <testsuite name=\"longer\" tests=\"1\" failures=\"1\" errors=\"0\" "
      "skipped=\"0\">\n"
      "    <testcase classname=\"longer\" name=\"mean&lt;=1ms\">"
      "<failure message=\"undecided: thin\"/></testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n");
}

TEST(CheckTest, JunitHasTheRemarksInEachSuite) {
  const std::string xml =
      RenderJunit(JunitCases(AllVerdicts(), /*allow_undecided=*/true),
                  {"One & two.", "3."});
  for (const char* last_case : {"\"/></testcase>\n", "thin\"/></testcase>\n"}) {
    EXPECT_THAT(xml, HasSubstr(absl::StrCat(
                         last_case,
                         "    <system-out>One &amp; two. 3.</system-out>\n"
                         "  </testsuite>\n")));
  }
}

TEST(CheckTest, JunitSkipsWhatMayBeUndecided) {
  const std::string xml =
      RenderJunit(JunitCases(AllVerdicts(), /*allow_undecided=*/true));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"undecided: thin\"/>"));
  EXPECT_THAT(xml, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
}

}  // namespace
}  // namespace distbench::report
