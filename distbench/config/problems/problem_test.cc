#include "distbench/config/problems/problem.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

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
