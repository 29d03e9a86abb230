// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The load that an instance reports, on simulated time: above all, a server
// that freezes must show in the response times.
//
// The experiment: an open loop of rate r = 1000/s runs for T = 10 s, during
// which the server freezes once for F = 1 s.
//
// Without a cap, everything is sent on time. The r F requests that arrive
// during the freeze wait until its end, for times spread evenly between 0 and
// F. They are F/T = a tenth of all requests, and nothing else takes long. So
// the response time that a share p of all requests exceeds is F - p T, for p <
// F/T: the p95 is 1 s - 0.05 * 10 s = 500 ms and the p99 1 s - 0.01 * 10 s =
// 900 ms.
//
// With a cap of 1 in flight and a service time s, only one request is sent
// during the freeze. Requests that are due during the freeze queue up. When it
// is over, the queue drains by one every s while others still arrive, 1/r
// apart: a request that arrives x after the freeze began is delayed by F - x (1
// - r s), until x = F / (1 - r s). So a share F / (1 - r s) / T is delayed, and
// the response time that a share p exceeds is F - p T (1 - r s): the p95 is
// (0.5 + 0.5 r s) s and the p99 (0.9 + 0.1 r s) s. The service time of all but
// one request is s, so it does not show the freeze.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::engine {
namespace {

// A client that sends 1000 requests per second for 10 s, and a server that
// takes service_ns for each.
std::string OpenLoopTest(absl::string_view cap, int64_t service_ns) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        delay_distribution_configs {
          name: "service_time"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: $1 }
          }
        }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "work" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations {
            open_loop_interval_ns: 1000000
            max_duration_us: 10000000 $0
          }
        }
        actions { name: "work" delay_distribution_name: "service_time" }
      )pb",
      cap, service_ns);
}

std::string Cap(int in_flight) {
  return absl::StrCat("max_parallel_iterations: ", in_flight);
}

struct Latencies {
  stats::LogHistogram service_time_ns;
  // Includes unsent requests, with a lower bound.
  stats::LogHistogram response_time_ns;
  OfferedLoad offered;
};

Latencies LatenciesOf(const ServiceLogs& logs) {
  Latencies latencies;
  // Absent if everything that was sent is warm-up.
  const RpcStatistics statistics = StatisticsOf(logs, "client/0", "server/0");
  if (statistics.has_service_time_ns()) {
    EXPECT_TRUE(results::AddHistogram(statistics.service_time_ns(),
                                      latencies.service_time_ns)
                    .ok());
    EXPECT_TRUE(results::AddHistogram(statistics.response_time_ns(),
                                      latencies.response_time_ns)
                    .ok());
  }
  latencies.offered = logs.instance_logs().at("client/0").offered_loads().at(0);
  if (latencies.offered.has_unsent_wait_ns()) {
    EXPECT_TRUE(results::AddHistogram(latencies.offered.unsent_wait_ns(),
                                      latencies.response_time_ns)
                    .ok());
  }
  return latencies;
}

// The server freezes for a second, four seconds into the traffic.
Latencies RunWithFreeze(const std::string& test, int workers = 1) {
  VirtualTimeSystem system(test, workers);
  system.FreezeBetween("server/0", system.start_ns() + 4 * kSecond,
                       system.start_ns() + 5 * kSecond);
  EXPECT_TRUE(system.Run());
  return LatenciesOf(system.Finish());
}

void ExpectSeconds(const stats::LogHistogram& latency_ns, double quantile,
                   double seconds) {
  EXPECT_NEAR(static_cast<double>(latency_ns.ValueAtQuantile(quantile)) / 1e9,
              seconds, 0.05 * seconds)
      << "at " << quantile;
}

TEST(FrozenServerTest, WithoutACapTheResponseTimeShowsTheFreeze) {
  const Latencies latencies = RunWithFreeze(OpenLoopTest("", 100'000));
  ExpectSeconds(latencies.response_time_ns, 0.95, 0.5);
  ExpectSeconds(latencies.response_time_ns, 0.99, 0.9);
  EXPECT_EQ(latencies.response_time_ns.count(), 10'001u);
  EXPECT_EQ(latencies.offered.offered_count(), 10'001);
  EXPECT_EQ(latencies.offered.unsent_count(), 0);
  EXPECT_EQ(latencies.offered.held_back_count(), 0);
}

class CappedFrozenServerTest : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(ServiceTimes, CappedFrozenServerTest,
                         testing::Values(100'000, 300'000, 500'000, 800'000));

TEST_P(CappedFrozenServerTest, WithACapTheResponseTimeShowsTheQueueToo) {
  const double rs = static_cast<double>(GetParam()) / kMs;
  const Latencies latencies = RunWithFreeze(OpenLoopTest(Cap(1), GetParam()));
  ExpectSeconds(latencies.response_time_ns, 0.95, 0.5 + 0.5 * rs);
  ExpectSeconds(latencies.response_time_ns, 0.99, 0.9 + 0.1 * rs);
  EXPECT_EQ(latencies.response_time_ns.count(), 10'001u);
  // The delayed requests are those that arrived while the queue was not empty.
  EXPECT_NEAR(latencies.offered.held_back_count(), 1000 / (1 - rs),
              20 / (1 - rs));
}

TEST_P(CappedFrozenServerTest, TheServiceTimeAloneHidesIt) {
  const double s = static_cast<double>(GetParam()) / 1e9;
  const Latencies latencies = RunWithFreeze(OpenLoopTest(Cap(1), GetParam()));
  ExpectSeconds(latencies.service_time_ns, 0.95, s);
  ExpectSeconds(latencies.service_time_ns, 0.999, s);
  EXPECT_NEAR(latencies.service_time_ns.max() / 1e9, 1.0, 0.01);
}

// A freeze that outlasts the traffic: requests that it held back are offered
// and unsent, and their waiting time is a lower bound of their response time.
TEST(UnsentLoadTest, CountsInTheResponseTime) {
  VirtualTimeSystem system(OpenLoopTest(Cap(1), 100'000));
  system.FreezeBetween("server/0", system.start_ns() + 9 * kSecond,
                       system.start_ns() + 11 * kSecond);
  ASSERT_TRUE(system.Run());
  const Latencies latencies = LatenciesOf(system.Finish());
  EXPECT_EQ(latencies.offered.offered_count(), 10'001);
  EXPECT_NEAR(latencies.offered.unsent_count(), 1000, 2);
  EXPECT_EQ(latencies.response_time_ns.count(), 10'001u);
  // They were due during the last of ten seconds, and waited until the end of
  // the eleventh: between 1 and 2 s.
  ExpectSeconds(latencies.response_time_ns, 0.95, 1.5);
  ExpectSeconds(latencies.response_time_ns, 0.99, 1.9);
}

TEST(UnsentLoadTest, IsSharedOutOverWorkersOnce) {
  VirtualTimeSystem system(OpenLoopTest(Cap(3), 10 * kMs), /*workers=*/3);
  ASSERT_TRUE(system.Run());
  const TrafficProgress progress = system.engine("client/0").progress();
  const Latencies latencies = LatenciesOf(system.Finish());
  EXPECT_EQ(latencies.offered.offered_count(), 10'001);
  // 3 at a time, 10 ms each: 300 of 1000 per second.
  EXPECT_NEAR(latencies.offered.unsent_count(), 7000, 50);
  EXPECT_EQ(latencies.offered.unsent_count(),
            10'001 - progress.succeeded_count());
  EXPECT_EQ(progress.offered_count(), 10'001);
}

TEST(UnsentLoadTest, OfWhatWasDueWhenTrafficIsStopped) {
  VirtualTimeSystem system(OpenLoopTest(Cap(1), 10 * kMs));
  system.RunFor(5 * kSecond);
  system.engine("client/0").Stop("enough");
  ASSERT_TRUE(system.Run());
  const Latencies latencies = LatenciesOf(system.Finish());
  EXPECT_NEAR(latencies.offered.offered_count(), 5000, 10);
  EXPECT_NEAR(latencies.offered.unsent_count(), 4500, 20);
}

// The loop learns of its end when what is in flight has ended, seconds later.
TEST(UnsentLoadTest, NothingIsDueOnceAnActionHasEndedTheTraffic) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "one_s"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 1000000000 }
      }
    }
    delay_distribution_configs {
      name: "five_s"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 5000000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" action_names: "end" }
    action_lists { name: "query" action_names: "work" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { open_loop_interval_ns: 1000000 max_parallel_iterations: 10 }
    }
    actions {
      name: "end"
      delay_distribution_name: "one_s"
      cancel_traffic_when_done: true
    }
    actions { name: "work" delay_distribution_name: "five_s" }
  )pb");
  ASSERT_TRUE(system.Run());
  const OfferedLoad offered = LatenciesOf(system.Finish()).offered;
  EXPECT_NEAR(offered.offered_count(), 1000, 2);
  EXPECT_NEAR(offered.unsent_count(), 990, 2);
  EXPECT_NEAR(static_cast<double>(offered.unsent_wait_ns().max()) / 1e9, 0.99,
              0.02);
}

TEST(UnsentLoadTest, ALongBacklogIsCountedInPieces) {
  // A million per second are offered, and a hundred can be served.
  std::string test = OpenLoopTest(Cap(1), 10 * kMs);
  const std::string interval = "open_loop_interval_ns: 1000000";
  test.replace(test.find(interval), interval.size(),
               "open_loop_interval_ns: 1000");
  VirtualTimeSystem system(test);
  ASSERT_TRUE(system.Run());
  const Latencies latencies = LatenciesOf(system.Finish());
  EXPECT_EQ(latencies.offered.offered_count(), 10'000'001);
  EXPECT_NEAR(latencies.offered.unsent_count(), 10'000'000, 1100);
  EXPECT_NEAR(latencies.response_time_ns.ValueAtQuantile(0.5) / 1e9, 5.0, 0.1);
}

TEST(UnsentLoadTest, HasNoWarmup) {
  VirtualTimeSystem system(
      OpenLoopTest(absl::StrCat(Cap(1), " warmup_ns: 5000000000"), 10 * kMs));
  ASSERT_TRUE(system.Run());
  const Latencies latencies = LatenciesOf(system.Finish());
  EXPECT_NEAR(latencies.offered.offered_count(), 5001, 1);
}

// Of T seconds at the constant rate r, both ends are due: r T + 1 requests,
// from the first send to the last end in T and the service time. So the rate is
// r + 1/T, which docs/measuring.md ("Rates") explains.
TEST(RateTest, OfAConstantOpenLoopHasARequestAtEitherEnd) {
  constexpr int64_t kServiceNs = 100'000;
  const auto expect = [&](const std::string& warmup, int64_t seconds) {
    VirtualTimeSystem system(OpenLoopTest(warmup, kServiceNs));
    ASSERT_TRUE(system.Run());
    const RpcStatistics statistics =
        StatisticsOf(system.Finish(), "client/0", "server/0");
    EXPECT_EQ(statistics.succeeded_count(), 1000 * seconds + 1);
    EXPECT_NEAR(statistics.last_end_timestamp_ns() -
                    statistics.first_start_timestamp_ns(),
                seconds * kSecond + kServiceNs, kServiceNs);
  };
  expect("", 10);
  expect("warmup_ns: 9000000000", 1);
}

// Only what open loops sent can be compared with what they offered.
TEST(ProgressTest, TellsOpenLoopsFromTheRpcsThatFollow) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 2 }
    default_protocol: "loopback"
    rpc_descriptions { name: "query" client: "client" server: "root" }
    rpc_descriptions {
      name: "ask"
      client: [ "root", "client" ]
      server: "leaf"
    }
    action_lists {
      name: "client"
      action_names: [ "open", "closed" ]
    }
    action_lists { name: "query" action_names: "fan_out" }
    action_lists { name: "ask" }
    actions {
      name: "open"
      rpc_name: "query"
      iterations { open_loop_interval_ns: 1000000 max_iteration_count: 70 }
    }
    actions {
      name: "closed"
      rpc_name: "ask"
      iterations { max_iteration_count: 10 }
    }
    actions { name: "fan_out" rpc_name: "ask" }
  )pb");
  ASSERT_TRUE(system.Run());
  const TrafficProgress client = system.engine("client/0").progress();
  EXPECT_EQ(client.succeeded_count(), 70 + 2 * 10);
  EXPECT_EQ(client.offered_count(), 70);
  EXPECT_EQ(client.open_loop_ended_count(), 70);
  EXPECT_GE(client.traffic_time_ns(), 69 * kMs);
  const TrafficProgress root = system.engine("root/0").progress();
  EXPECT_EQ(root.succeeded_count(), 2 * 70);
  EXPECT_EQ(root.offered_count(), 0);
  EXPECT_EQ(root.open_loop_ended_count(), 0);
  EXPECT_EQ(root.traffic_time_ns(), client.traffic_time_ns());
  EXPECT_FALSE(system.engine("leaf/0").progress().has_traffic_time_ns());
}

TEST(ProgressTest, HasNoTimeBeforeTheStartIsKnown) {
  VirtualTimeSystem system(
      ParseTest(R"pb(
        services { name: "client" count: 1 }
        services { name: "root" count: 1 }
        services { name: "leaf" count: 1 }
        default_protocol: "loopback"
        rpc_descriptions { name: "query" client: "client" server: "root" }
        rpc_descriptions { name: "ask" client: "root" server: "leaf" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "ask" }
        action_lists { name: "ask" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations { max_iteration_count: 3 }
        }
        actions { name: "ask" rpc_name: "ask" }
      )pb"),
      {.late_instance = "root/0"});
  system.RunFor(10 * kMs);
  Engine& root = system.engine("root/0");
  EXPECT_EQ(root.progress().succeeded_count(), 3);
  EXPECT_FALSE(root.progress().has_traffic_time_ns());
  root.Start(system.start_ns());
  EXPECT_EQ(root.progress().traffic_time_ns(),
            system.clock().MonotonicNs() - system.start_ns());
}

TEST(TimeSeriesTest, ShowsEverySecondOfARun) {
  VirtualTimeSystem system(OpenLoopTest("warmup_ns: 2000000000", 300'000), 2);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcTimeSeries& series =
      logs.instance_logs().at("client/0").rpc_time_series().at(0);
  EXPECT_EQ(series.interval_ns(), kSecond);
  // The run overlaps eleven seconds of Unix time.
  ASSERT_EQ(series.intervals_size(), 11);
  int64_t offered = 0;
  int64_t sent = 0;
  int64_t succeeded = 0;
  int64_t warmup = 0;
  for (int i = 0; i < series.intervals_size(); ++i) {
    const RpcInterval& interval = series.intervals(i);
    EXPECT_EQ(interval.index(), series.intervals(0).index() + i);
    EXPECT_EQ(static_cast<int64_t>(interval.succeeded_count()), [&] {
      stats::LogHistogram histogram;
      EXPECT_TRUE(
          results::AddHistogram(interval.service_time_ns(), histogram).ok());
      return static_cast<int64_t>(histogram.count());
    }());
    if (i > 0 && i < 10) EXPECT_EQ(interval.offered_count(), 1000);
    offered += interval.offered_count();
    sent += interval.sent_count();
    succeeded += interval.succeeded_count();
    warmup += interval.warmup_count();
  }
  EXPECT_EQ(offered, 10'001);
  EXPECT_EQ(sent, 10'001);
  EXPECT_EQ(succeeded, 10'001);
  EXPECT_EQ(warmup, 2000);
}

TEST(ProgressTest, KnowsTheBacklogAndTheLastSecond) {
  VirtualTimeSystem system(OpenLoopTest(Cap(1), 10 * kMs));
  system.RunFor(5 * kSecond);
  Engine& client = system.engine("client/0");
  EXPECT_NEAR(client.progress().offered_count(), 5000, 20);
  EXPECT_NEAR(client.progress().succeeded_count(), 500, 2);
  stats::SeriesByRpc recent;
  client.TakeRecent(recent);
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;
  std::vector<int64_t> seconds;
  stats::IntervalSeries::ForEach(
      {&recent.at(0)}, [&](const stats::IntervalSeries::View& each) {
        seconds.push_back(each.index);
        service_time_ns.Merge(each.service_time_ns);
        response_time_ns.Merge(each.response_time_ns);
      });
  EXPECT_GE(seconds.size(), 4);
  EXPECT_LE(seconds.size(), 6);
  EXPECT_NEAR(service_time_ns.count(), 500, 101) << "but for the last second";
  EXPECT_NEAR(service_time_ns.ValueAtQuantile(0.5), 10 * kMs, 0.1 * kMs);
  EXPECT_GT(response_time_ns.ValueAtQuantile(0.5), kSecond);
  stats::SeriesByRpc nothing;
  client.TakeRecent(nothing);
  EXPECT_TRUE(nothing.empty());
}

}  // namespace
}  // namespace distbench::engine
