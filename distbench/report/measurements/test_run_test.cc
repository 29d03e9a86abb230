#include "distbench/report/measurements/test_run.h"

#include <string>
#include <utility>
#include <vector>

#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

TestResult Simulated() {
  TestResult result;
  result.mutable_simulation();
  return result;
}

TEST(OriginTest, OnlySimulatedNamesAreMarked) {
  EXPECT_EQ(MarkedName("t", TestResult()), "t");
  EXPECT_EQ(MarkedName("t", Simulated()), "t (simulated)");
}

TEST(OriginTest, OriginsOfRuns) {
  const auto results = Sourced({TestResult(), Simulated()});
  const std::vector<TestRun> runs = ListRuns(results);
  const auto first = absl::MakeConstSpan(runs).first(1);
  const auto second = absl::MakeConstSpan(runs).subspan(1);
  EXPECT_EQ(OriginOf({}), kRealOrigin);
  EXPECT_EQ(OriginOf(first), kRealOrigin);
  EXPECT_EQ(OriginOf(second), "simulated");
  EXPECT_EQ(OriginOf(runs), "real and simulated");
  EXPECT_FALSE(MixesOrigins({}));
  EXPECT_FALSE(MixesOrigins(second));
  EXPECT_TRUE(MixesOrigins(runs));
}

TEST(OriginTest, OnlySimulatedRunsAreCopiesIfTheyShareASeed) {
  const auto share = [](std::vector<TestResult> all, bool are_simulated) {
    for (TestResult& result : all) {
      if (are_simulated) result.mutable_simulation();
    }
    const auto results = Sourced(std::move(all));
    return ShareSeeds(ListRuns(results));
  };
  const TestResult one = ResultFromText("run_info { random_seed: 1 }");
  const TestResult two = ResultFromText("run_info { random_seed: 2 }");
  EXPECT_FALSE(share({one, two}, true));
  EXPECT_TRUE(share({one, two, one}, true));
  EXPECT_FALSE(share({one, one}, false));
  EXPECT_FALSE(share({TestResult(), TestResult()}, true));
}

}  // namespace
}  // namespace distbench::report
