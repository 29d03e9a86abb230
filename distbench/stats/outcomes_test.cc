// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/outcomes.h"

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

Outcomes MakeOutcomes(int succeeded, uint64_t failed) {
  Outcomes outcomes;
  for (int i = 1; i <= succeeded; ++i) outcomes.latency_ns.Record(i);
  outcomes.failed_count = failed;
  return outcomes;
}

TEST(OutcomesTest, WithoutFailuresQuantilesAreThoseOfTheLatencies) {
  const Outcomes outcomes = MakeOutcomes(100, 0);
  for (const double quantile : {0.0, 0.25, 0.5, 0.99, 1.0}) {
    EXPECT_EQ(outcomes.ValueAtQuantile(quantile),
              outcomes.latency_ns.ValueAtQuantile(quantile));
  }
  EXPECT_EQ(outcomes.failed_share(), 0);
}

TEST(OutcomesTest, FailuresRankAboveAllLatencies) {
  const Outcomes outcomes = MakeOutcomes(90, 10);
  EXPECT_EQ(outcomes.ValueAtQuantile(0), 1);
  EXPECT_EQ(outcomes.ValueAtQuantile(0.5), 51);
  EXPECT_EQ(outcomes.ValueAtQuantile(0.899), 90);
  EXPECT_EQ(outcomes.ValueAtQuantile(0.9), Outcomes::kFailed);
  EXPECT_EQ(outcomes.ValueAtQuantile(1), Outcomes::kFailed);
  EXPECT_DOUBLE_EQ(outcomes.failed_share(), 0.1);
}

TEST(OutcomesTest, AllQuantilesFailIfNothingSucceeded) {
  const Outcomes outcomes = MakeOutcomes(0, 3);
  EXPECT_EQ(outcomes.ValueAtQuantile(0), Outcomes::kFailed);
  EXPECT_EQ(outcomes.ValueAtQuantile(0.5), Outcomes::kFailed);
  EXPECT_EQ(outcomes.failed_share(), 1);
}

TEST(OutcomesTest, NoRequestsHaveNoFailures) {
  EXPECT_EQ(Outcomes().count(), 0u);
  EXPECT_EQ(Outcomes().failed_share(), 0);
}

TEST(OutcomesTest, MergesBothParts) {
  Outcomes outcomes = MakeOutcomes(5, 1);
  outcomes.Merge(MakeOutcomes(7, 2));
  EXPECT_EQ(outcomes.latency_ns.count(), 12u);
  EXPECT_EQ(outcomes.failed_count, 3u);
  EXPECT_EQ(outcomes.count(), 15u);
}

}  // namespace
}  // namespace distbench::stats
