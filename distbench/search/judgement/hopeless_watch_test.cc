#include "distbench/search/judgement/hopeless_watch.h"

#include <string>
#include <vector>

#include "distbench/results/histogram_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

constexpr ProbeTiming kTiming = {.warmup = absl::Seconds(2),
                                 .measured = absl::Seconds(10)};

DistributedSystemDescription OpenLoopTest() {
  DistributedSystemDescription test;
  test.add_rpc_descriptions()->set_name("query");
  Action& action = *test.add_actions();
  action.set_rpc_name("query");
  action.mutable_iterations()->set_open_loop_interval_ns(1'000'000);
  return test;
}

std::vector<Objective> Objectives(const std::string& text) {
  return {*ParseObjective(text)};
}

// One second at a load of 1000 per second, in which `count` responses took
// `response_ns`.
TrafficProgress Second(int seconds_so_far, int count, int64_t response_ns) {
  LogHistogram histogram;
  for (int i = 0; i < count; ++i) histogram.Record(response_ns);
  TrafficProgress progress;
  progress.set_offered_count(1000 * seconds_so_far);
  EncodeHistogram(histogram, *progress.mutable_recent_response_time_ns());
  return progress;
}

TEST(HopelessWatchTest, EndsOnceThePercentileIsOutOfReach) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  // 10 000 responses are due: 500 of them may be late, plus 10 % for chance.
  EXPECT_FALSE(watch.Add(Second(4, 500, 9'000'000), absl::Seconds(4)));
  EXPECT_TRUE(watch.Add(Second(5, 500, 9'000'000), absl::Seconds(5)));
  EXPECT_THAT(watch.evidence(), HasSubstr("query p95<=1ms: ended after 5 s"));
  EXPECT_EQ(watch.response_time_ns().count(), 1000);
}

TEST(HopelessWatchTest, GoesOnNearTheLimit) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  for (int second = 4; second < 12; ++second) {
    EXPECT_FALSE(
        watch.Add(Second(second, 1000, 2'900'000), absl::Seconds(second)));
  }
}

TEST(HopelessWatchTest, LeavesOutTheWarmUp) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  EXPECT_FALSE(watch.Add(Second(3, 5000, 9'000'000), absl::Seconds(3)));
  EXPECT_EQ(watch.response_time_ns().count(), 0);
}

TEST(HopelessWatchTest, KnowsNothingWhereRpcsAreNotTold) {
  DistributedSystemDescription two = OpenLoopTest();
  two.add_rpc_descriptions()->set_name("other");
  Action& action = *two.add_actions();
  action.set_rpc_name("other");
  action.mutable_iterations()->set_open_loop_interval_ns(1'000'000);
  HopelessWatch of_two(two, Objectives("query p95<=1ms"), kTiming);
  EXPECT_FALSE(of_two.Add(Second(5, 9000, 9'000'000), absl::Seconds(5)));

  HopelessWatch of_rate(OpenLoopTest(), Objectives("query rate>=5000"),
                        kTiming);
  EXPECT_FALSE(of_rate.Add(Second(5, 9000, 9'000'000), absl::Seconds(5)));

  DistributedSystemDescription nested = OpenLoopTest();
  nested.add_rpc_descriptions()->set_name("leaf_query");
  HopelessWatch of_nested(nested, Objectives("leaf_query p95<=1ms"), kTiming);
  EXPECT_FALSE(of_nested.Add(Second(5, 9000, 9'000'000), absl::Seconds(5)));
}

}  // namespace
}  // namespace distbench
