#include "distbench/report/verdicts/escape.h"

#include "gtest/gtest.h"

namespace distbench::report {
namespace {

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

}  // namespace
}  // namespace distbench::report
