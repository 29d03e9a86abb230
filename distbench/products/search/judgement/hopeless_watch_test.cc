// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/judgement/hopeless_watch.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/results/histogram_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
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

std::vector<config::Objective> Objectives(const std::string& text) {
  return {*config::ParseObjective(text)};
}

// One second at a load of 1000 per second, in which `count` responses took
// `response_ns` since they were due, and `service_ns` since they were sent.
TrafficProgress Second(int seconds_so_far, int count, int64_t response_ns,
                       int64_t service_ns) {
  const auto times = [count](int64_t ns) {
    stats::LogHistogram histogram;
    histogram.RecordN(ns, count);
    return histogram;
  };
  TrafficProgress progress;
  progress.set_offered_count(1000 * seconds_so_far);
  results::EncodeHistogram(times(response_ns),
                           *progress.mutable_recent_response_time_ns());
  results::EncodeHistogram(times(service_ns),
                           *progress.mutable_recent_service_time_ns());
  return progress;
}

// All were sent when they were due.
TrafficProgress Second(int seconds_so_far, int count, int64_t response_ns) {
  return Second(seconds_so_far, count, response_ns, response_ns);
}

TEST(HopelessWatchTest, EndsOnceThePercentileIsOutOfReach) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  // 10,000 responses are due: 500 of them may be late, more if reports are.
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

// A complete run would be generator_limited, which says nothing about the
// system, and is no miss.
TEST(HopelessWatchTest, ALateGeneratorIsNoMiss) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  for (int second = 4; second < 11; ++second) {
    EXPECT_FALSE(watch.Add(Second(second, 1000, 9'000'000, 900'000),
                           absl::Seconds(second)));
  }
  // The service times alone miss, if not by far.
  EXPECT_TRUE(
      watch.Add(Second(11, 1000, 9'000'000, 1'100'000), absl::Seconds(11)));
}

// Reports of more than a thousand nodes are up to several seconds old, and may
// cover the warm-up.
TEST(HopelessWatchTest, DoesNotTrustReportsOfThousandsOfNodes) {
  DistributedSystemDescription test = OpenLoopTest();
  test.add_services()->set_count(1000);
  HopelessWatch of_1000(test, Objectives("query p95<=1ms"), kTiming);
  EXPECT_TRUE(of_1000.Add(Second(5, 10'000, 9'000'000), absl::Seconds(5)));
  HopelessWatch twice(test, Objectives("query p95<=1ms"), kTiming, 2);
  EXPECT_FALSE(twice.Add(Second(5, 10'000, 9'000'000), absl::Seconds(5)));
  test.add_services()->set_count(1);
  HopelessWatch of_1001(test, Objectives("query p95<=1ms"), kTiming);
  EXPECT_FALSE(of_1001.Add(Second(5, 10'000, 9'000'000), absl::Seconds(5)));
}

TEST(HopelessWatchTest, LeavesOutTheWarmUp) {
  HopelessWatch watch(OpenLoopTest(), Objectives("query p95<=1ms"), kTiming);
  EXPECT_FALSE(watch.Add(Second(3, 5000, 9'000'000), absl::Seconds(3)));
  EXPECT_EQ(watch.response_time_ns().count(), 0);
}

// Responses of the measured time that come within a time of the start.
int64_t MeasuredUntil(const std::vector<double>& arrivals_ns,
                      absl::Duration end) {
  return std::count_if(
      arrivals_ns.begin(), arrivals_ns.end(), [&](double arrival_ns) {
        return arrival_ns >= absl::ToDoubleNanoseconds(kTiming.warmup) &&
               arrival_ns < absl::ToDoubleNanoseconds(end);
      });
}

std::vector<double> DrawArrivals(const Iterations& iterations, uint64_t seed) {
  const config::ArrivalPlan plan =
      config::CompileArrivals(iterations.arrivals());
  config::ArrivalStream stream(
      plan, static_cast<double>(iterations.open_loop_interval_ns()),
      {.seed = seed});
  std::vector<double> arrivals_ns;
  while (stream.time_ns() <
         absl::ToDoubleNanoseconds(kTiming.warmup + kTiming.measured)) {
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    arrivals_ns.push_back(stream.time_ns());
    stream.Advance();
  }
  return arrivals_ns;
}

// A run that just meets its objective, at worst: all of its late responses come
// first, and each report is a second old.
bool EndsRunThatMeets(const DistributedSystemDescription& test, uint64_t seed) {
  HopelessWatch watch(test, Objectives("query p95<=1ms"), kTiming);
  const std::vector<double> arrivals_ns =
      DrawArrivals(test.actions(0).iterations(), seed);
  const absl::Duration length = kTiming.warmup + kTiming.measured;
  const int64_t may_be_late = MeasuredUntil(arrivals_ns, length) / 20;
  int64_t reported = 0;
  for (absl::Duration elapsed = absl::Seconds(3.5); elapsed <= length;
       elapsed += absl::Seconds(1)) {
    const absl::Duration covered = elapsed - absl::Seconds(1);
    const int64_t late =
        std::min(may_be_late, MeasuredUntil(arrivals_ns, covered));
    TrafficProgress progress =
        Second(0, static_cast<int>(late - reported), 9'000'000);
    reported = late;
    progress.set_offered_count(std::count_if(
        arrivals_ns.begin(), arrivals_ns.end(), [&](double arrival_ns) {
          return arrival_ns < absl::ToDoubleNanoseconds(covered);
        }));
    if (watch.Add(progress, elapsed)) return true;
  }
  return false;
}

TEST(HopelessWatchTest, NeverEndsARunThatMayMeet) {
  for (const char* const arrivals :
       {"process: 'constant'", "",
        "process: 'gamma' coefficient_of_variation: 3",
        "process: 'gamma' coefficient_of_variation: 10"}) {
    for (const int64_t interval_ns : {1'000'000, 20'000'000}) {
      DistributedSystemDescription test = OpenLoopTest();
      Iterations& iterations = *test.mutable_actions(0)->mutable_iterations();
      iterations.set_open_loop_interval_ns(interval_ns);
      *iterations.mutable_arrivals() = base::FromText<Arrivals>(arrivals);
      int ended = 0;
      for (uint64_t seed = 1; seed <= 100; ++seed) {
        ended += EndsRunThatMeets(test, seed);
      }
      EXPECT_EQ(ended, 0) << arrivals << " every " << interval_ns << " ns";
    }
  }
}

// An iteration sends to all servers at once, so that the number of RPCs varies
// as much as one of their number of iterations.
TEST(HopelessWatchTest, ExpectsBurstsOfIterationsWithManyRpcs) {
  DistributedSystemDescription test = OpenLoopTest();
  HopelessWatch of_one(test, Objectives("query p95<=1ms"), kTiming);
  test.add_services()->set_count(400);
  HopelessWatch of_many(test, Objectives("query p95<=1ms"), kTiming);
  EXPECT_TRUE(of_one.Add(Second(5, 1000, 9'000'000), absl::Seconds(5)));
  EXPECT_FALSE(of_many.Add(Second(5, 1000, 9'000'000), absl::Seconds(5)));
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
}  // namespace distbench::search
