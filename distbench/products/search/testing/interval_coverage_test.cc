// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/testing/interval_coverage.h"

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;

// docs/products/search.md has the table of 100 searches each.
TEST(CoverageTest, IntervalsContainTheTruth) {
  constexpr int kSeeds = 40;
  for (const CoverageCase& search : CoverageCases()) {
    const auto coverage = MeasureCoverage(search, {}, kSeeds);
    ASSERT_TRUE(coverage.ok()) << coverage.status();
    // If 93 of 100 hold, chance leaves fewer than 34 of 40 in 1 % of cases.
    EXPECT_GE(coverage->held, 34) << search.name << search.objective;
    EXPECT_LE(coverage->wrongly_proven, kSeeds * 0.1)
        << search.name << search.objective;
    EXPECT_LT(coverage->median_width, 0.12) << search.name << search.objective;
  }
}

TEST(CoverageTest, ProvesNothingIfProbesAreShorterThanTheQueueRemembers) {
  const auto coverage = MeasureCoverage(NearSaturationCases()[1], {}, 20);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_EQ(coverage->proven, 0);
  EXPECT_EQ(coverage->held, coverage->answers);
}

// Unless so few probes are near the limit that no slope can be told.
TEST(CoverageTest, ProvesNothingNearSaturation) {
  const auto coverage = MeasureCoverage(NearSaturationCases()[0], {}, 40);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_LE(coverage->proven, 6);
  EXPECT_LE(coverage->wrongly_proven, 1);
}

TEST(CoverageTest, ShortFinalRunsAreRepeatedAndProveLittle) {
  const CoverageCase search = CoverageCases()[0];
  const CoverageTiming timing = {.probe = absl::Seconds(10),
                                 .final_run = absl::Seconds(1)};
  const auto coverage = MeasureCoverage(search, timing, 40);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_GE(coverage->held, 36);
  EXPECT_LT(coverage->proven, 20);
  EXPECT_LE(coverage->wrongly_proven, 2);
}

SearchReport SearchWith(const std::vector<std::string>& objectives,
                        double failure_share) {
  LoadSearchSpec spec;
  for (const std::string& objective : objectives) {
    spec.add_objectives(objective);
  }
  spec.set_final_duration_us(20'000'000);
  // Hundreds of RPCs in each probe, so that none meets by chance.
  spec.set_min_load(50);
  const auto plan = PlanSearch(spec, SimulatedTest());
  EXPECT_TRUE(plan.ok()) << plan.status();
  SimulatedSystem system({QueueKind::kExponentialService, 500}, /*seed=*/1,
                         failure_share);
  SearchCallbacks callbacks;
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher&) -> absl::StatusOr<TestResult> {
    return system.Run(test);
  };
  TestSequenceResults results;
  EXPECT_TRUE(RunLoadSearch(*plan, callbacks, results).ok());
  return results.searches(0);
}

TEST(SimulatedSearchTest, FindsNoLoadIfAllRpcsFail) {
  for (const char* objective : {"p95<=20ms", "mean<=20ms", "failures<=1%"}) {
    const SearchReport report = SearchWith({objective}, 1);
    EXPECT_EQ(report.verdict(), "objective_unreachable") << objective;
    EXPECT_FALSE(report.has_load()) << objective;
    EXPECT_FALSE(report.has_min_load()) << objective;
    EXPECT_FALSE(report.is_proven()) << objective;
  }
}

TEST(SimulatedSearchTest, FindsNoLoadIfTooManyFail) {
  const SearchReport report = SearchWith({"failures<=1%"}, 0.03);
  EXPECT_EQ(report.verdict(), "objective_unreachable");
  EXPECT_FALSE(report.has_load());
}

TEST(SimulatedSearchTest, ObjectivesTogetherBoundTheSameLoad) {
  // Truths: 350.2, 375 and 500 per second.
  const SearchReport report =
      SearchWith({"p95<=20ms", "mean<=8ms", "rate>=50", "failures<=1%"}, 0);
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_LE(report.min_load(), 350.2);
  EXPECT_GE(report.max_load(), 350.2);
  EXPECT_EQ(report.confidence_level(), 0.95);
  EXPECT_THAT(report.evidence(), HasSubstr("proven at 95 %"));
}

}  // namespace
}  // namespace distbench::search
