// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/layout.h"

#include <string>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

PageTable Example() {
  return {.titles = {"RPC", "rate", "p50", "failed"},
          .rows = {{{"a_query"}, {"510/s"}, {"1.2 ms"}, {"0"}},
                   {{"b"}, {"1.62 k/s"}, {""}, {"12 (2.3 %)", Color::kBad}}}};
}

TEST(RenderTableTest, AlignsColumns) {
  EXPECT_EQ(RenderTable(Example(), {.columns = 80}),
            "  RPC          rate     p50      failed\n"
            "  a_query     510/s  1.2 ms           0\n"
            "  b        1.62 k/s       -  12 (2.3 %)\n");
}

TEST(RenderTableTest, FitsExactlyOrBecomesParagraphs) {
  EXPECT_EQ(RenderTable(Example(), {.columns = 39}),
            RenderTable(Example(), {.columns = 80}));
  EXPECT_EQ(RenderTable(Example(), {.columns = 38}),
            "  a_query\n"
            "    rate 510/s, p50 1.2 ms, failed 0\n"
            "  b\n"
            "    rate 1.62 k/s, failed 12 (2.3 %)\n");
  EXPECT_EQ(RenderTable(Example(), {.columns = 20}),
            "  a_query\n"
            "    rate 510/s, p50\n"
            "    1.2 ms, failed 0\n"
            "  b\n"
            "    rate 1.62 k/s,\n"
            "    failed 12\n"
            "    (2.3 %)\n");
}

TEST(RenderTableTest, ColorsTakeNoRoom) {
  const std::string plain = RenderTable(Example(), {.columns = 39});
  const std::string colored =
      RenderTable(Example(), {.columns = 39, .has_color = true});
  EXPECT_NE(colored.find("\x1b[1;31m12 (2.3 %)\x1b[0m\n"), std::string::npos);
  std::string stripped = colored;
  for (size_t begin; (begin = stripped.find('\x1b')) != std::string::npos;) {
    stripped.erase(begin, stripped.find('m', begin) + 1 - begin);
  }
  EXPECT_EQ(stripped, plain);
}

TEST(RenderTableTest, CountsCharactersInsteadOfBytes) {
  EXPECT_EQ(RenderTable({.titles = {"RPC", "n"},
                         .rows = {{{"\xc3\xa4"}, {"1"}}, {{"abc"}, {"2"}}}},
                        {}),
            "  RPC  n\n"
            "  \xc3\xa4    1\n"
            "  abc  2\n");
}

TEST(ParagraphTest, HangsBesideItsLabel) {
  EXPECT_EQ(Paragraph({"  warn"}, "the clock is not steady at all", 9,
                      {.columns = 25}),
            "  warn   the clock is not\n"
            "         steady at all\n");
  EXPECT_EQ(Paragraph({"  undecided"}, "a b", 9, {.columns = 25}),
            "  undecided a b\n");
}

TEST(ParagraphTest, KeepsANumberWithItsUnit) {
  EXPECT_EQ(Paragraph({}, "it took 12 ms, or 3 %.", 2, {.columns = 13}),
            "  it took\n"
            "  12 ms, or\n"
            "  3 %.\n");
  EXPECT_EQ(Paragraph({}, "letter s", 2, {.columns = 9}), "  letter\n  s\n");
}

TEST(ParagraphTest, KeepsLongWordsWhole) {
  EXPECT_EQ(
      Paragraph({}, "a_long_word_of_many_letters and more", 2, {.columns = 10}),
      "  a_long_word_of_many_letters\n"
      "  and more\n");
  EXPECT_EQ(Paragraph({}, "", 2, {.columns = 0}), "\n");
}

}  // namespace
}  // namespace distbench::report
