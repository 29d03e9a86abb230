// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/recent_traffic.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

// A second of an RPC that took so long.
void AddSecond(int64_t succeeded, int64_t failed, int64_t ns,
               stats::IntervalSeries& series) {
  series.At(1).succeeded = succeeded;
  series.At(1).failed = failed;
  for (int i = 0; i < succeeded; ++i) series.ServiceTimes(1).Record(ns);
  series.Close();
}

DistributedSystemDescription TestWithRpcs(int count) {
  DistributedSystemDescription test;
  for (int i = 0; i < count; ++i) {
    test.add_rpc_descriptions()->set_name(absl::StrCat("rpc", i));
  }
  return test;
}

TEST(RecentTrafficTest, PassesWhatEnginesMeasuredThroughReports) {
  stats::SeriesByRpc measured;
  AddSecond(3, 1, 100, measured[0]);
  AddSecond(1, 0, 200, measured[1]);
  RecentTraffic node;
  node.Add(TestWithRpcs(2), measured);
  TrafficProgress report;
  node.TakeInto(report);

  RecentTraffic sequencer;
  sequencer.Add(report);
  sequencer.Add(report);
  EXPECT_EQ(sequencer.times().service_ns.sum(), 2 * (3 * 100 + 200));
  ASSERT_THAT(sequencer.rpcs(), ElementsAre(Key("rpc0"), Key("rpc1")));
  const RecentTraffic::Rpc& rpc = sequencer.rpcs().at("rpc0");
  EXPECT_EQ(rpc.succeeded_count, 6);
  EXPECT_EQ(rpc.failed_count, 2);
  EXPECT_EQ(rpc.times.service_ns.sum(), 600);
  EXPECT_EQ(rpc.times.response_ns.count(), 0);
}

TEST(RecentTrafficTest, IsTakenOnce) {
  stats::SeriesByRpc measured;
  AddSecond(1, 0, 100, measured[0]);
  RecentTraffic recent;
  recent.Add(TestWithRpcs(2), measured);
  TrafficProgress first;
  recent.TakeInto(first);
  EXPECT_TRUE(first.has_recent_service_time_ns());
  EXPECT_FALSE(first.has_recent_response_time_ns()) << "there are none";
  TrafficProgress second;
  recent.TakeInto(second);
  EXPECT_FALSE(second.has_recent_service_time_ns());
  EXPECT_EQ(second.recent_rpcs_size(), 0);
}

TEST(RecentTrafficTest, TellsRpcsApartOnlyWhereThereAreSeveralButNotVeryMany) {
  stats::SeriesByRpc measured;
  AddSecond(1, 0, 100, measured[0]);
  const auto told_apart = [&](int rpc_count) {
    RecentTraffic recent;
    recent.Add(TestWithRpcs(rpc_count), measured);
    EXPECT_EQ(recent.times().service_ns.count(), 1);
    return !recent.rpcs().empty();
  };
  EXPECT_FALSE(told_apart(1));
  EXPECT_TRUE(told_apart(2));
  EXPECT_TRUE(told_apart(RecentTraffic::kMostRpcs));
  EXPECT_FALSE(told_apart(RecentTraffic::kMostRpcs + 1));
}

TEST(RecentTrafficTest, TracesAreRpcs) {
  DistributedSystemDescription test = TestWithRpcs(1);
  test.add_rpc_replay_traces()->set_name("trace");
  stats::SeriesByRpc measured;
  AddSecond(1, 0, 100, measured[1]);
  RecentTraffic recent;
  recent.Add(test, measured);
  EXPECT_THAT(recent.rpcs(), ElementsAre(Key("trace")));
}

TEST(RecentTrafficTest, DamagedReportsAddNothingAndTakeNoMemory) {
  RecentTraffic recent;
  recent.Add(base::FromText<TrafficProgress>(R"(
    recent_service_time_ns { bucket_counts: 1 }
    recent_rpcs {
      rpc_name: "damaged"
      succeeded_count: -5
      response_time_ns { bucket_counts: 1 }
    })"));
  EXPECT_EQ(recent.times().service_ns.count(), 0);
  EXPECT_EQ(recent.rpcs().at("damaged").succeeded_count, 0);
  EXPECT_EQ(recent.rpcs().at("damaged").times.response_ns.count(), 0);

  TrafficProgress endless;
  for (int i = 0; i < 1000; ++i) {
    RecentRpc& rpc = *endless.add_recent_rpcs();
    rpc.set_rpc_name(absl::StrCat(i));
    rpc.set_succeeded_count(std::numeric_limits<int64_t>::max());
  }
  recent.Add(endless);
  recent.Add(endless);
  EXPECT_EQ(recent.rpcs().size(), RecentTraffic::kMostRpcs);
  EXPECT_EQ(recent.rpcs().at("0").succeeded_count,
            std::numeric_limits<int64_t>::max());
}

TEST(RecentTrafficTest, LatenciesAreResponseTimesWhereThereAreSome) {
  RecentTraffic::Times times;
  times.service_ns.Record(100);
  EXPECT_EQ(times.latency_ns().sum(), 100);
  times.response_ns.Record(300);
  EXPECT_EQ(times.latency_ns().sum(), 300);
}

}  // namespace
}  // namespace distbench::results
