// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/text_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AlignedLinesTest, NamesAreOnTheLeftAndFiguresOnTheRight) {
  EXPECT_THAT(
      AlignedLines(
          {{"name", "ms", "verdict"}, {"a", "12.5", "ok"}, {"longer", "3", ""}},
          "lrl"),
      ElementsAre("name      ms  verdict",  //
                  "a       12.5  ok",       //
                  "longer     3"));
}

TEST(AlignedLinesTest, NoRowsAreNoLines) {
  EXPECT_THAT(AlignedLines({}, "ll"), IsEmpty());
}

TEST(JoinSomeTest, CountsWhatItDoesNotName) {
  const std::vector<std::string> items = {"a", "b", "c"};
  EXPECT_EQ(JoinSome({}, 2, ", ", " and "), "");
  EXPECT_EQ(JoinSome(items, 4, ", ", " and "), "a, b, c");
  EXPECT_EQ(JoinSome(items, 3, ", ", " and "), "a, b, c");
  EXPECT_EQ(JoinSome(items, 2, "; ", "; and "), "a; b; and 1 more");
}

}  // namespace
}  // namespace distbench::base
