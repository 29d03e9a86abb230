#include "distbench/products/external/csv_rows.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CsvRows, ReadsCellsAsRfc4180HasThem) {
  const auto rows = ParseCsvRows(
      "\xef\xbb\xbfuser,text\r\n"
      "ann,\"a, \"\"b\"\"\nc\"\r\n"
      "\n"
      ",plain");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("user", "text"),
                                 ElementsAre("ann", "a, \"b\"\nc"),
                                 ElementsAre("", "plain")));
}

TEST(CsvRows, AnEmptyCellMayEndAFile) {
  const auto rows = ParseCsvRows("a,b\n1,");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(rows->at(1), ElementsAre("1", ""));
}

TEST(CsvRows, SaysInWhichLineAProblemIs) {
  const auto error = [](const char* text) {
    return std::string(ParseCsvRows(text).status().message());
  };
  EXPECT_THAT(error("a,b\n\"x\ny\",2\nsecret\n"),
              HasSubstr("line 4 has 1 cells, but the first row names 2"));
  EXPECT_THAT(error("a\n\"x"), HasSubstr("line 2 has a quote that is not"));
  EXPECT_THAT(error("a\nx\"y\n"), HasSubstr("line 2 has a quote inside"));
  EXPECT_THAT(error("a\n\"x\"y\n"), HasSubstr("line 2 has text after"));
  EXPECT_THAT(error("a,a\n1,2\n"), HasSubstr("two columns are called \"a\""));
  EXPECT_THAT(error("a,\n1,2\n"), HasSubstr("a column without a name"));
  EXPECT_THAT(error("a\n"), HasSubstr("at least one row"));
  EXPECT_THAT(error(""), HasSubstr("at least one row"));
}

}  // namespace
}  // namespace distbench::external
