// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities in their pools: their order, and what the log says about them.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/merge.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;

// A service whose main list runs an activity.
std::string Lonely(const std::string& activity, const std::string& iterations) {
  return absl::
      Substitute(
          R"pb(
            services { name: "lonely" count: 1 }
            default_protocol: "loopback"
            random_seed: 5
            activity_configs { name: "work" $0 }
            action_lists { name: "lonely" action_names: "run" }
            actions {
              name: "run"
              activity_config_name: "work"
              iterations { $1 }
            })pb",
          activity, iterations);
}

std::string WaitOf(const std::string& distribution, int mean_us) {
  return absl::Substitute(
      R"pb(
        pool_name: "server"
        activity_settings { name: "activity_func" string_value: "Wait" }
        activity_settings { name: "distribution" string_value: "$0" }
        activity_settings { name: "mean_us" int64_value: $1 })pb",
      distribution, mean_us);
}

std::string PoolOf(int size) {
  return absl::Substitute("activity_pools { name: 'server' size: $0 }", size);
}

const ActivityLog& ActivityLogOf(const ServiceLogs& logs,
                                 const std::string& instance) {
  return logs.instance_logs().at(instance).activity_logs().at("work");
}

std::map<std::string, int64_t> MetricsOf(const ActivityLog& log) {
  std::map<std::string, int64_t> metrics;
  for (const ActivityMetric& metric : log.activity_metrics()) {
    metrics[metric.name()] = metric.value_int();
  }
  return metrics;
}

stats::LogHistogram Decode(const Histogram& proto) {
  stats::LogHistogram histogram;
  EXPECT_TRUE(results::AddHistogram(proto, histogram).ok());
  return histogram;
}

// Twelve waits of 10 ms, all requested at once.
void ExpectTurns(int workers, int places) {
  VirtualTimeSystem system(
      Lonely(WaitOf("fixed", 10'000),
             "max_iteration_count: 12 max_parallel_iterations: 12") +
          PoolOf(places),
      workers);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const ActivityLog& log = ActivityLogOf(logs, "lonely/0");
  EXPECT_EQ(MetricsOf(log).at("iteration_count"), 12);
  const stats::LogHistogram duration_ns = Decode(log.duration_ns());
  EXPECT_EQ(duration_ns.min(), 10 * kMs);
  EXPECT_EQ(duration_ns.max(), 10 * kMs);
  const stats::LogHistogram queueing_ns = Decode(log.queueing_ns());
  EXPECT_EQ(queueing_ns.CountAtMost(0), places);
  EXPECT_EQ(queueing_ns.max(), (12 / places - 1) * 10 * kMs);
}

TEST(WaitTest, TakesTurnsInItsPool) {
  ExpectTurns(/*workers=*/1, /*places=*/1);
  ExpectTurns(/*workers=*/1, /*places=*/3);
}

TEST(WaitTest, WorkersShareThePool) {
  ExpectTurns(/*workers=*/3, /*places=*/1);
  ExpectTurns(/*workers=*/4, /*places=*/2);
}

TEST(WaitTest, WithoutAPoolEverybodyHasAPlace) {
  VirtualTimeSystem system(Lonely(
      R"pb(
        activity_settings { name: "activity_func" string_value: "Wait" }
        activity_settings { name: "mean_us" int64_value: 10000 })pb",
      "max_iteration_count: 12 max_parallel_iterations: 12"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(Decode(ActivityLogOf(logs, "lonely/0").queueing_ns()).max(), 0);
}

TEST(WaitTest, StopEndsThoseThatSeekAPlace) {
  for (const int workers : {1, 3}) {
    VirtualTimeSystem system(
        Lonely(WaitOf("fixed", 1'000'000),
               "max_iteration_count: 12 max_parallel_iterations: 12") +
            PoolOf(2),
        workers);
    system.RunFor(1500 * kMs);
    EXPECT_FALSE(system.finished());
    system.StopAll("enough");
    system.RunFor(1 * kMs);
    EXPECT_TRUE(system.finished());
    // Waits that were cut short do not count as done.
    const ServiceLogs logs = system.Finish();
    EXPECT_EQ(MetricsOf(ActivityLogOf(logs, "lonely/0")).at("iteration_count"),
              2);
  }
}

// An open loop to a server that works by a Wait activity.
std::string Queue(const std::string& distribution, double load) {
  constexpr int kServiceUs = 1000;
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        random_seed: 11
        sample_memory_bytes: 0
        rpc_descriptions { name: "query" client: "client" server: "server" } $0
        activity_configs { name: "work" $1 }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "serve" }
        actions { name: "serve" activity_config_name: "work" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations {
            max_iteration_count: 200000
            open_loop_interval_ns: $2
            open_loop_interval_distribution: "exponential"
            warmup_iterations: 2000
          }
        })pb",
      PoolOf(1), WaitOf(distribution, kServiceUs),
      static_cast<int64_t>(1000 * kServiceUs / load));
}

stats::LogHistogram ResponseTimesOf(const std::string& config) {
  VirtualTimeSystem system(config);
  EXPECT_TRUE(system.Run());
  return Decode(
      StatisticsOf(system.Finish(), "client/0", "server/0").response_time_ns());
}

// Response times of M/M/1 are exponential with mean S / (1 - load): Kleinrock,
// "Queueing Systems", volume 1, 3.2 and 5.8.
TEST(WaitTest, AnExponentialWaitInAPoolOfOneIsMM1) {
  const stats::LogHistogram times_ns =
      ResponseTimesOf(Queue("exponential", 0.5));
  EXPECT_NEAR(times_ns.mean(), 2 * kMs, 0.04 * kMs);
  EXPECT_NEAR(times_ns.ValueAtQuantile(0.95), 5.99 * kMs, 0.18 * kMs);
}

// The mean time in the queue of M/D/1 is S * load / (2 * (1 - load)).
TEST(WaitTest, AFixedWaitInAPoolOfOneIsMD1) {
  const stats::LogHistogram times_ns = ResponseTimesOf(Queue("fixed", 0.5));
  EXPECT_NEAR(times_ns.mean(), 1.5 * kMs, 0.015 * kMs);
}

// ---- Over time --------------------------------------------------------------

// The intervals of an activity as "second: offered/completed", where the first
// second is 0.
std::vector<std::string> Seconds(const ActivitySeries& series) {
  EXPECT_EQ(series.interval_ns(), 1000 * kMs);
  std::vector<std::string> seconds;
  for (const ActivityInterval& interval : series.intervals()) {
    seconds.push_back(absl::StrCat(
        interval.index() - series.intervals(0).index(), ": ",
        interval.offered_count(), "/", interval.completed_count()));
  }
  return seconds;
}

// Every 400 ms, a wait of 500 ms in the only place: due at 0, 400, ..., 2000,
// and done at 500, 1000, ..., 3000 ms. The traffic of a simulation starts a
// millisecond after a full second.
TEST(ActivitySeriesTest, CountsWhatWasDueAndWhatWasDone) {
  VirtualTimeSystem system(
      Lonely(WaitOf("fixed", 500'000),
             "max_iteration_count: 6 open_loop_interval_ns: 400000000") +
      PoolOf(1));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(Seconds(ActivityLogOf(logs, "lonely/0").series()),
              ElementsAre("0: 3/1", "1: 2/2", "2: 1/2", "3: 0/1"));
}

// One wait of a second at a time, and ten are due meanwhile, until the action
// is over. The rest is never started, but was due.
TEST(ActivitySeriesTest, IterationsThatNeverStartedWereDue) {
  VirtualTimeSystem system(
      Lonely(WaitOf("fixed", 1'000'000),
             "max_duration_us: 2950000 open_loop_interval_ns: 100000000 "
             "max_parallel_iterations: 1") +
      PoolOf(1));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  int64_t offered = 0;
  int64_t completed = 0;
  for (const ActivityInterval& interval :
       ActivityLogOf(logs, "lonely/0").series().intervals()) {
    offered += interval.offered_count();
    completed += interval.completed_count();
  }
  EXPECT_EQ(offered, 30);
  EXPECT_EQ(completed, 3);
}

TEST(ActivitySeriesTest, AClosedLoopOffersNothing) {
  VirtualTimeSystem system(
      Lonely(WaitOf("fixed", 250'000), "max_iteration_count: 5") + PoolOf(1));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_THAT(Seconds(ActivityLogOf(logs, "lonely/0").series()),
              ElementsAre("0: 0/3", "1: 0/2"));
}

TEST(ActivitySeriesTest, CountsTheBytesOfActivitiesThatCompute) {
  VirtualTimeSystem system(Lonely(
      R"pb(
        activity_settings { name: "activity_func" string_value: "Compress" }
        activity_settings { name: "bytes" int64_value: 80000 }
        activity_settings { name: "corpus_bytes" int64_value: 100000 }
      )pb",
      "max_iteration_count: 4 open_loop_interval_ns: 500000000"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const ActivitySeries& series = ActivityLogOf(logs, "lonely/0").series();
  EXPECT_THAT(Seconds(series), ElementsAre("0: 2/2", "1: 2/2"));
  EXPECT_EQ(series.intervals(1).input_bytes(), 160'000);
  EXPECT_GT(series.intervals(1).output_bytes(), 0);
  EXPECT_LE(series.intervals(1).output_bytes(), 160'000);
}

// ---- Real threads -----------------------------------------------------------

// Returns the log of an activity on a real engine.
ActivityLog RunReally(const std::string& config, int workers) {
  TestSequence sequence;
  *sequence.add_tests() = ParseTest(config);
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  absl::Notification finished;
  EngineOptions options;
  options.plan =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  options.worker_count = workers;
  options.on_traffic_finished = [&] { finished.Notify(); };
  const auto engine =
      Engine::Create(std::move(options), protocol::MakeLoopbackDriver());
  EXPECT_TRUE(engine.ok()) << engine.status();
  EXPECT_TRUE((*engine)->Connect({}, absl::InfiniteFuture()).ok());
  (*engine)->Start(base::RealClock().MonotonicNs());
  finished.WaitForNotification();
  (*engine)->Shutdown();
  ServiceLogs logs;
  (*engine)->Collect([&](ResultChunk chunk) {
    EXPECT_TRUE(results::MergeChunk(std::move(chunk), logs).ok());
  });
  return ActivityLogOf(logs, "lonely/0");
}

const char* const kSort = R"pb(
  activity_settings { name: "activity_func" string_value: "ConsumeCpu" })pb";

TEST(ComputingTest, ChecksumsDependOnTheSeedAndTheCountOnly) {
  const std::string iterations =
      "max_iteration_count: 300 max_parallel_iterations: 20";
  const auto plain = MetricsOf(RunReally(Lonely(kSort, iterations), 1));
  EXPECT_EQ(plain.at("iteration_count"), 300);
  EXPECT_NE(plain.at("checksum"), 0);
  const auto pooled = MetricsOf(
      RunReally(Lonely(absl::StrCat(kSort, "pool_name: 'server'"), iterations) +
                    PoolOf(3),
                2));
  EXPECT_EQ(pooled, plain);
}

TEST(WaitTest, RealWorkersShareThePool) {
  const ActivityLog log =
      RunReally(Lonely(WaitOf("exponential", 100),
                       "max_iteration_count: 500 max_parallel_iterations: 30") +
                    PoolOf(2),
                3);
  EXPECT_EQ(MetricsOf(log).at("iteration_count"), 500);
  EXPECT_EQ(Decode(log.duration_ns()).count(), 500u);
  // 30 iterations compete for two places.
  EXPECT_GT(Decode(log.queueing_ns()).mean(), 0);
}

TEST(ActivitiesTest, AServiceThatDoesNoneOfItNeedsNoThreads) {
  VirtualTimeSystem system(Queue("fixed", 0.5));
  // The server's handler runs the activity; the client's lists do not.
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(logs.instance_logs().at("client/0").activity_logs().size(), 0);
  EXPECT_EQ(logs.instance_logs().at("server/0").activity_logs().size(), 1);
}

}  // namespace
}  // namespace distbench::engine
