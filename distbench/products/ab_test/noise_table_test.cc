// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/noise_table.h"

#include <string>
#include <utility>
#include <vector>

#include "distbench/report/comparison/testing/fake_run_metrics.h"
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
  EXPECT_THAT(*table, HasSubstr("    p99           ±11."));
  EXPECT_FALSE(
      DescribeNoise(report::ListRuns(report::Sourced({report::RunOf(1000)})))
          .ok());
}

TEST(NoiseTableTest, HasWhatIsMeasuredOfWholeRuns) {
  const auto table_of = [](const std::vector<double>& values,
                           const std::string& last_definition = "a query") {
    std::vector<TestResult> runs;
    for (const double value : values) {
      const bool is_last = runs.size() + 1 == values.size();
      report::AddRunMetric(
          {.name = "queue",
           .value = value,
           .definition = is_last ? last_definition : "a query"},
          runs.emplace_back(report::RunOf(1'000'000)));
    }
    const auto noise = report::Sourced(std::move(runs));
    return DescribeNoise(report::ListRuns(noise)).value();
  };
  EXPECT_THAT(table_of({100, 103, 97, 100}),
              HasSubstr("  metrics of the test:\n"
                        "                        1 run       5 runs      10 "
                        "runs\n"
                        "    metric:queue      ±11."));
  EXPECT_THAT(table_of({1, 0, 1}), HasSubstr("    metric:queue            ?"));
  EXPECT_THAT(table_of({1, 2, 3}, "another"),
              HasSubstr("metric:queue  not known: it is a query in run 1"));
}

}  // namespace
}  // namespace distbench::ab_test
