// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/problems/problem.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Path, ReadsLikeTheConfig) {
  const Path test = Path("tests").At(0);
  EXPECT_EQ(test.Field("actions").At("run").Field("rpc_name").text(),
            "tests[0].actions[\"run\"].rpc_name");
  EXPECT_EQ(test.Field("a").At("x\"\n").text(), "tests[0].a[\"x\\\"\\n\"]");
  EXPECT_EQ(Path().Field("tests").text(), "tests");
}

// Reads a path back.
std::string Rewritten(const Path& path) {
  std::string text;
  for (const PathStep& step : StepsOf(path.text())) {
    absl::StrAppend(
        &text, step.field.empty() ? "[" : "<", step.field, step.quoted_key,
        step.field.empty() && step.quoted_key.empty() ? absl::StrCat(step.index)
                                                      : "",
        step.field.empty() ? "]" : ">");
  }
  return text;
}

TEST(StepsOf, ReadsWhatAPathHasMade) {
  const Path test = Path("tests").At(12);
  EXPECT_EQ(Rewritten(test.Field("actions").At("run").Field("rpc_name")),
            "<tests>[12]<actions>[\"run\"]<rpc_name>");
  EXPECT_EQ(Rewritten(test.Field("a").At("x\"].b[0]\\").At(3)),
            "<tests>[12]<a>[\"x\\\"].b[0]\\\\\"][3]");
  EXPECT_EQ(Rewritten(test.At(std::string(300, 'x'))).size(), 11 + 87);
  EXPECT_EQ(Rewritten(Path()), "");
}

TEST(StepsOf, EndsWhereNoPathGoesOn) {
  for (const char* text : {"a.", "a..b", "a[", "a[x]", "a[]", "a[\"b]",
                           "a[\"b\"", "a[\"b\"x]", "a[99999999999]"}) {
    EXPECT_EQ(Rewritten(Path(text)), "<a>") << text;
  }
}

TEST(ProblemFrom, ReadsWhatIsWritten) {
  for (const Problem& problem : std::vector<Problem>{
           {"tests[0].actions[\"a: b\\\"\"].name", "is: \"bad\"; good"},
           {"", "two words: bad"},
           {"", "\"a\""},
           {"", "a"},
           {"", ": a"},
           {"", ""}}) {
    EXPECT_EQ(ProblemFrom(ToString(problem)), problem);
  }
}

TEST(ToStatus, ListsEveryProblemOnItsLine) {
  EXPECT_TRUE(ToStatus({}).ok());
  const absl::Status status =
      ToStatus({{"tests[0].name", "bad; good"}, {"", "worse"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "tests[0].name: bad; good\nworse");
}

TEST(Problems, KeepsTheOrder) {
  Problems problems;
  problems.Add(Path("a"), "first");
  problems.Add(Path("b"), "second");
  EXPECT_THAT(std::move(problems).Take(),
              ElementsAre(Problem{"a", "first"}, Problem{"b", "second"}));
}

TEST(Problems, CountsWhatItDoesNotKeep) {
  Problems problems;
  for (int i = 0; i < Problems::kMaxKept + 7; ++i) problems.Add(Path("a"), "x");
  EXPECT_TRUE(problems.full());
  const std::vector<Problem> all = std::move(problems).Take();
  EXPECT_THAT(all, SizeIs(Problems::kMaxKept + 1));
  EXPECT_EQ(ToString(all.back()), "7 more problems are not listed");
}

TEST(Problems, MakesOnlyThoseThatItKeeps) {
  Problems problems;
  int made = 0;
  for (int i = 0; i < Problems::kMaxKept + 7; ++i) {
    problems.Add([&] {
      ++made;
      return Problem{"a", "x"};
    });
  }
  EXPECT_EQ(made, Problems::kMaxKept);
  EXPECT_EQ(problems.count(), Problems::kMaxKept + 7);
}

TEST(CheckRange, TellsTheRange) {
  Problems problems;
  CheckRange(Path("a"), 1, 1, 3, problems);
  CheckRange(Path("a"), 3, 1, 3, problems);
  CheckRange(Path("a"), 0, 1, 3, problems);
  CheckRange(Path("b"), -1, 0, std::numeric_limits<int64_t>::max(), problems);
  EXPECT_THAT(
      std::move(problems).Take(),
      ElementsAre(Problem{"a", "0 is out of range; must be from 1 to 3"},
                  Problem{"b", "-1 is out of range; must be at least 0"}));
}

}  // namespace
}  // namespace distbench::config
