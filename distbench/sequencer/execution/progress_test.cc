// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/progress.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::Eq;

TrafficProgress Progress(int64_t count) {
  TrafficProgress progress;
  progress.set_succeeded_count(count);
  progress.set_failed_count(count);
  progress.set_in_flight_count(count);
  progress.set_offered_count(count);
  progress.set_open_loop_ended_count(count);
  progress.set_traffic_time_ns(count);
  return progress;
}

TEST(ProgressTest, NewerTotalsReplaceOlderOnes) {
  TrafficProgress progress = Progress(1);
  UpdateProgress(Progress(2), progress);
  EXPECT_EQ(progress.succeeded_count(), 2);
  EXPECT_EQ(progress.failed_count(), 2);
  EXPECT_EQ(progress.in_flight_count(), 2);
  EXPECT_EQ(progress.offered_count(), 2);
  EXPECT_EQ(progress.open_loop_ended_count(), 2);
  EXPECT_EQ(progress.traffic_time_ns(), 2);

  TrafficProgress nothing;
  UpdateProgress(nothing, progress);
  EXPECT_EQ(progress.traffic_time_ns(), 2);
}

TEST(ProgressTest, ADisplayDoesNotNeedMoreThanAThousandReportsASecond) {
  EXPECT_EQ(ProgressInterval(1), absl::Seconds(1));
  EXPECT_EQ(ProgressInterval(1000), absl::Seconds(1));
  EXPECT_EQ(ProgressInterval(10'000), absl::Seconds(10));
}

std::optional<int64_t> ExpectedUs(const std::string& text) {
  const auto test = base::FromText<DistributedSystemDescription>(text);
  return ExpectedDurationUs(test);
}

TEST(ExpectedDurationTest, IsUnknownWithoutALimit) {
  EXPECT_THAT(ExpectedUs(""), Eq(std::nullopt));
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "run" iterations { max_iteration_count: 7 } }
                action_lists { name: "client" action_names: "run" })"),
              Eq(std::nullopt));
}

TEST(ExpectedDurationTest, FollowsTheLongestChainOfMainLists) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a" iterations { max_duration_us: 10 } }
                actions { name: "b" iterations { max_duration_us: 25 } }
                actions { name: "c" iterations { max_duration_us: 20 }
                          dependencies: "a" }
                action_lists {
                  name: "client"
                  action_names: "a" action_names: "b" action_names: "c"
                })"),
              Eq(30));
}

TEST(ExpectedDurationTest, LeavesOutHandlers) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a" iterations { max_duration_us: 10 } }
                actions { name: "b" iterations { max_duration_us: 25 } }
                action_lists { name: "client" action_names: "a" }
                action_lists { name: "query" action_names: "b" })"),
              Eq(10));
}

TEST(ExpectedDurationTest, DoesNotOverflow) {
  EXPECT_THAT(ExpectedUs(R"(
                services { name: "client" }
                actions { name: "a"
                          iterations { max_duration_us: 9223372036854775807 } }
                actions { name: "b"
                          iterations { max_duration_us: 9223372036854775807 }
                          dependencies: "a" }
                action_lists {
                  name: "client" action_names: "a" action_names: "b"
                })"),
              Eq(std::numeric_limits<int64_t>::max()));
}

TEST(ReportsWithPongsTest, FewNodesReportAtOnce) {
  EXPECT_FALSE(ReportsWithPongs(1));
  EXPECT_FALSE(ReportsWithPongs(200));
  EXPECT_TRUE(ReportsWithPongs(201));
}

}  // namespace
}  // namespace distbench::sequencer
