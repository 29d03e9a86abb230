// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/index_list.h"

#include <random>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

IndexSet Parsed(absl::string_view text) {
  const absl::StatusOr<IndexSet> indices = ParseIndexList(text);
  EXPECT_TRUE(indices.ok()) << indices.status();
  return indices.value_or(IndexSet{});
}

TEST(IndexListTest, ReadsWhatTheKernelWrites) {
  EXPECT_THAT(Parsed("0-3,8\n"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(Parsed("5"), ElementsAre(5));
  EXPECT_THAT(Parsed("\n"), IsEmpty());
}

TEST(IndexListTest, OrderAndRepetitionDoNotMatter) {
  EXPECT_THAT(Parsed("8,1-2,2-3"), ElementsAre(1, 2, 3, 8));
}

TEST(IndexListTest, WritesTheShortestList) {
  EXPECT_EQ(FormatIndexList({}), "");
  EXPECT_EQ(FormatIndexList({7}), "7");
  EXPECT_EQ(FormatIndexList({0, 1, 2, 4, 6, 7}), "0-2,4,6-7");
}

TEST(IndexListTest, SaysWhatIsWrong) {
  for (const char* text : {"a", "1,", ",1", "1-", "-1", "1--2", "1-2-3", "+1",
                           "1 ,2", "0x1", "65536", "99999999999"}) {
    const absl::Status status = ParseIndexList(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("0-3,8")) << text;
  }
  EXPECT_THAT(std::string(ParseIndexList("5-2").status().message()),
              HasSubstr("write 2-5"));
}

TEST(IndexListTest, WhatIsWrittenIsRead) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    IndexSet indices;
    const int count = static_cast<int>(random() % 40);
    const int span = 1 + static_cast<int>(random() % 80);
    for (int i = 0; i < count; ++i) indices.insert(random() % span);
    EXPECT_EQ(Parsed(FormatIndexList(indices)), indices);
  }
}

// Any list that is accepted survives being formatted and parsed again.
TEST(IndexListTest, AnyTextIsReadOrRefused) {
  std::mt19937 random(2);
  constexpr absl::string_view kLetters = "0123456789,,--- \nx";
  int read_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = random() % 8; i > 0; --i) {
      text += kLetters[random() % kLetters.size()];
    }
    const absl::StatusOr<IndexSet> indices = ParseIndexList(text);
    if (!indices.ok()) continue;
    ++read_count;
    EXPECT_EQ(Parsed(FormatIndexList(*indices)), *indices) << text;
  }
  EXPECT_GT(read_count, 1000);
}

TEST(IndexListTest, Sets) {
  EXPECT_THAT(Intersection({1, 2, 3}, {2, 3, 4}), ElementsAre(2, 3));
  EXPECT_THAT(Without({1, 2, 3}, {2, 3, 4}), ElementsAre(1));
}

}  // namespace
}  // namespace distbench::base
