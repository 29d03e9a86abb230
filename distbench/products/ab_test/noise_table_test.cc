// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/noise_table.h"

#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::ab_test {
namespace {

using ::testing::HasSubstr;

TEST(NoiseTableTest, TableShowsGroupsOfSeveralSizes) {
  const auto noise =
      report::Sourced({report::RunOf(1'000'000), report::RunOf(1'030'000),
                       report::RunOf(970'000), report::RunOf(1'000'000)});
  const auto table = DescribeNoise(report::ListRuns(noise));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(*table, HasSubstr("Test: t (4 runs)\n  query, service time:\n"
                                "                    1 run       5 runs      "
                                "10 runs\n"));
  EXPECT_THAT(*table, HasSubstr("    p99            ±11."));
  EXPECT_FALSE(
      DescribeNoise(report::ListRuns(report::Sourced({report::RunOf(1000)})))
          .ok());
}

}  // namespace
}  // namespace distbench::ab_test
