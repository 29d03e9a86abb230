#include <cmath>
#include <cstdint>
#include <random>

#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

TEST_F(JudgeTest, LatenciesThatSettleDuringTheRunAreAWarning) {
  for (int i = 0; i < kJudgedSeconds; ++i) {
    const auto median = static_cast<int64_t>(
        1'000'000 * (1 + std::exp(-i / 4.0)) + 10'000 * (i % 3));
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(median, 100);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "not_steady"), HasSubstr("Geweke"));
}

TEST_F(JudgeTest, LatenciesThatSettleDuringTheWarmupAreNot) {
  for (int i = 0; i < 10; ++i) {
    RpcInterval& interval = *Series().mutable_intervals(i);
    *interval.mutable_service_time_ns() = Repeated(5'000'000, 100);
    interval.set_warmup_count(100);
  }
  ExpectNothing();
}

TEST_F(JudgeTest, NoiseIsNoTrend) {
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> median(std::log(1e6), 0.2);
    for (RpcInterval& interval : *Series().mutable_intervals()) {
      *interval.mutable_service_time_ns() =
          Repeated(static_cast<int64_t>(median(random)), 100);
    }
    ExpectNothing();
  }
}

}  // namespace
}  // namespace distbench::report
