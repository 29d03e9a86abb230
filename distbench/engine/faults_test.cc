// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Failures that servers have on purpose, on simulated time.

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

// A simulated event may take a microsecond.
constexpr int64_t kToleranceNs = 10'000;

// 1000 requests in a second, which come between the half milliseconds at which
// faults begin and end.
constexpr char kEachMs[] =
    "iterations { open_loop_interval_ns: 1000000 max_iteration_count: 1000 }";

std::string WithFault(absl::string_view fault, absl::string_view more = "") {
  return ClientServer(
      kEachMs, absl::Substitute(
                   "server_faults { name: 'fault' service: 'server' $0 } $1",
                   fault, more));
}

// A handler that takes 2 ms.
constexpr char kSlowHandler[] = R"pb(
  actions { name: "wait" activity_config_name: "wait" }
  activity_configs {
    name: "wait"
    activity_settings { name: "activity_func" string_value: "Wait" }
    activity_settings { name: "mean_us" int64_value: 2000 }
  })pb";

class FaultOutcome {
 public:
  explicit FaultOutcome(VirtualTimeSystem& system)
      : start_ns_(system.start_ns() + system.clock().UnixNs() -
                  system.clock().MonotonicNs()),
        logs_(system.Finish()) {
    statistics = StatisticsOf(logs_, "client/0", "server/0");
    if (!statistics.has_service_time_ns()) return;  // none succeeded
    EXPECT_TRUE(
        results::AddHistogram(statistics.service_time_ns(), service_time_ns)
            .ok());
  }

  const FaultLog& fault(const std::string& instance = "server/0") const {
    return logs_.instance_logs().at(instance).fault_logs().at("fault");
  }
  int64_t BeginNs(int i) const {
    return fault().times(i).begin_timestamp_ns() - start_ns_;
  }
  int64_t EndNs(int i) const {
    return fault().times(i).end_timestamp_ns() - start_ns_;
  }
  const ServiceLogs& logs() const { return logs_; }

  RpcStatistics statistics;
  stats::LogHistogram service_time_ns;

 private:
  const int64_t start_ns_;
  const ServiceLogs logs_;
};

FaultOutcome RunWith(const std::string& config, int workers = 1) {
  VirtualTimeSystem system(config, workers);
  EXPECT_TRUE(system.Run(60'000 * kMs));
  return FaultOutcome(system);
}

DistributedSystemDescription WithSlowHandler(const std::string& config) {
  DistributedSystemDescription test = ParseTest(config);
  test.mutable_action_lists(1)->add_action_names("wait");
  return test;
}

TEST(FaultsTest, ErrorsAreAnsweredWhileTheyAreInEffect) {
  for (const int workers : {1, 3}) {
    const FaultOutcome outcome =
        RunWith(WithFault("error_code: 'UNAVAILABLE' start: '200.5ms' "
                          "duration: '300ms'"),
                workers);
    EXPECT_EQ(outcome.statistics.failed_count(), 300);
    EXPECT_EQ(outcome.statistics.succeeded_count(), 700);
    EXPECT_EQ(outcome.fault().request_count(), 300);
    ASSERT_EQ(outcome.fault().times_size(), 1);
    EXPECT_NEAR(outcome.BeginNs(0), 200.5 * kMs, kToleranceNs);
    EXPECT_NEAR(outcome.EndNs(0), 500.5 * kMs, kToleranceNs);
    EXPECT_EQ(outcome.logs()
                  .instance_logs()
                  .at("client/0")
                  .error_dictionary()
                  .error_message(1),
              "UNAVAILABLE: planned fault \"fault\"");
  }
}

TEST(FaultsTest, LastsFromTheFirstToTheLastRequestByDefault) {
  const FaultOutcome outcome = RunWith(WithFault("error_code: 'INTERNAL'"));
  EXPECT_EQ(outcome.statistics.failed_count(), 1000);
  ASSERT_EQ(outcome.fault().times_size(), 1);
  EXPECT_NEAR(outcome.BeginNs(0), 0, kToleranceNs);
  EXPECT_GE(outcome.EndNs(0), 999 * kMs);
}

TEST(FaultsTest, Repeats) {
  const FaultOutcome outcome =
      RunWith(WithFault("error_code: 'ABORTED' start: '100.5ms' "
                        "duration: '10ms' repeat: '100ms'"));
  EXPECT_EQ(outcome.statistics.failed_count(), 90);
  ASSERT_EQ(outcome.fault().times_size(), 9);
  EXPECT_NEAR(outcome.BeginNs(8), 900.5 * kMs, kToleranceNs);
  EXPECT_NEAR(outcome.EndNs(8), 910.5 * kMs, kToleranceNs);
}

TEST(FaultsTest, HappensWithItsProbability) {
  constexpr int kRequests = 20'000;
  constexpr double kProbability = 0.3;
  const FaultOutcome outcome = RunWith(ClientServer(
      absl::Substitute("iterations { open_loop_interval_ns: 50000 "
                       "max_iteration_count: $0 }",
                       kRequests),
      "random_seed: 7 server_faults { name: 'fault' service: 'server' "
      "error_code: 'UNAVAILABLE' probability: 0.3 }"));
  const double deviation =
      std::sqrt(kRequests * kProbability * (1 - kProbability));
  EXPECT_NEAR(outcome.statistics.failed_count(), kRequests * kProbability,
              4 * deviation);
  EXPECT_EQ(outcome.fault().request_count(), outcome.statistics.failed_count());
}

TEST(FaultsTest, AnotherErrorMayFollowOneThatDoesNotHappen) {
  const FaultOutcome outcome = RunWith(
      WithFault("error_code: 'UNAVAILABLE' probability: 1e-12",
                "server_faults { name: 'other' service: 'server' error_code: "
                "'INTERNAL' start: '500.5ms' }"));
  EXPECT_EQ(outcome.fault().request_count(), 0);
  EXPECT_EQ(outcome.statistics.failed_count(), 499);
}

TEST(FaultsTest, ExtraLatenciesDelayAnswersAndAddUp) {
  const FaultOutcome outcome = RunWith(
      WithFault("extra_latency: '5ms' start: '200.5ms' duration: '300ms'",
                R"pb(server_faults {
                       name: "drawn"
                       service: "server"
                       extra_latency_distribution: "delays"
                       start: "400.5ms"
                     }
                     delay_distribution_configs {
                       name: "delays"
                       pmf_points {
                         pmf: 1
                         data_points { exact: 3000000 }
                       }
                     })pb"));
  EXPECT_EQ(outcome.statistics.failed_count(), 0);
  EXPECT_EQ(outcome.fault().request_count(), 300);
  // 5 ms for 300 requests, and 3 ms for the last 599.
  EXPECT_NEAR(outcome.service_time_ns.sum(), (5 * 300 + 3 * 599) * kMs, kMs);
  EXPECT_NEAR(outcome.service_time_ns.max(), 8 * kMs, kToleranceNs);
}

TEST(FaultsTest, TheHandlerRunsBeforeTheAnswerIsDelayed) {
  VirtualTimeSystem system(
      WithSlowHandler(WithFault("extra_latency: '5ms'", kSlowHandler)),
      /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const FaultOutcome outcome(system);
  EXPECT_NEAR(outcome.service_time_ns.min(), 7 * kMs, kToleranceNs);
  EXPECT_NEAR(outcome.service_time_ns.max(), 7 * kMs, kToleranceNs);
}

TEST(FaultsTest, ConcernsItsRpcAndInstancesOnly) {
  const std::string config = ClientServer(
      "iterations { max_iteration_count: 10 }",
      R"pb(
        rpc_descriptions { name: "other" client: "client" server: "server" }
        action_lists { name: "other" }
        actions {
          name: "run_other"
          rpc_name: "other"
          iterations { max_iteration_count: 10 }
        }
        server_faults {
          name: "fault"
          service: "server"
          instances: [ 0, 2 ]
          rpc_name: "query"
          error_code: "UNAVAILABLE"
        })pb",
      /*servers=*/3);
  DistributedSystemDescription test = ParseTest(config);
  test.mutable_action_lists(0)->add_action_names("run_other");
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (const char* server : {"server/0", "server/1", "server/2"}) {
    const bool fails = server != std::string("server/1");
    EXPECT_EQ(StatisticsOf(logs, "client/0", server, 0).failed_count(),
              fails ? 10 : 0)
        << server;
    EXPECT_EQ(StatisticsOf(logs, "client/0", server, 1).failed_count(), 0);
    EXPECT_EQ(logs.instance_logs().at(server).fault_logs().size(),
              fails ? 1 : 0);
  }
}

TEST(FaultsTest, AFreezeDelaysEverythingExactly) {
  for (const int workers : {1, 2}) {
    const FaultOutcome outcome = RunWith(
        ClientServer("iterations { open_loop_interval_ns: 10000000 "
                     "max_iteration_count: 100 }",
                     "server_faults { name: 'fault' service: 'server' freeze: "
                     "true start: '295ms' duration: '100ms' }"),
        workers);
    EXPECT_EQ(outcome.statistics.succeeded_count(), 100);
    // Those of 300, 310 ... 390 ms are answered at 395 ms.
    EXPECT_NEAR(outcome.service_time_ns.max(), 95 * kMs, kToleranceNs);
    EXPECT_NEAR(outcome.service_time_ns.sum(), 500 * kMs, kMs);
    ASSERT_EQ(outcome.fault().times_size(), 1);
    EXPECT_NEAR(outcome.BeginNs(0), 295 * kMs, kToleranceNs);
    EXPECT_NEAR(outcome.EndNs(0), 395 * kMs, kToleranceNs);
  }
}

TEST(FaultsTest, FreezesThatOverlapAreOne) {
  const FaultOutcome outcome =
      RunWith(ClientServer("iterations { open_loop_interval_ns: 10000000 "
                           "max_iteration_count: 100 }",
                           R"pb(server_faults {
                                  name: "fault"
                                  service: "server"
                                  freeze: true
                                  start: "295ms"
                                  duration: "100ms"
                                }
                                server_faults {
                                  name: "longer"
                                  service: "server"
                                  freeze: true
                                  start: "290.5ms"
                                  duration: "200ms"
                                })pb"));
  EXPECT_NEAR(outcome.service_time_ns.max(), 190.5 * kMs, kToleranceNs);
  // The shorter one came and went unseen.
  EXPECT_EQ(outcome.fault().times_size(), 0);
}

TEST(FaultsTest, AFrozenClientSendsLate) {
  const FaultOutcome outcome = RunWith(
      ClientServer("iterations { open_loop_interval_ns: 10000000 "
                   "max_iteration_count: 100 }",
                   "server_faults { name: 'fault' service: 'client' freeze: "
                   "true start: '295ms' duration: '100ms' }"));
  stats::LogHistogram lateness_ns;
  ASSERT_TRUE(
      results::AddHistogram(outcome.statistics.lateness_ns(), lateness_ns)
          .ok());
  EXPECT_NEAR(lateness_ns.max(), 95 * kMs, kToleranceNs);
  EXPECT_LT(outcome.service_time_ns.max(), kMs);
}

// The answer to the request of 290 ms comes at 292 ms, and is in time. Without
// looking, it would have expired at 340 ms.
TEST(FaultsTest, AFrozenClientDoesNotBlameItsServer) {
  DistributedSystemDescription test = WithSlowHandler(ClientServer(
      "iterations { open_loop_interval_ns: 10000000 "
      "max_iteration_count: 100 }",
      absl::StrCat("server_faults { name: 'fault' service: 'client' freeze: "
                   "true start: '291ms' duration: '100ms' }",
                   kSlowHandler)));
  test.mutable_rpc_descriptions(0)->set_deadline_us(50'000);
  VirtualTimeSystem system(test, /*workers=*/1);
  EXPECT_TRUE(system.Run(60'000 * kMs));
  const FaultOutcome outcome(system);
  EXPECT_EQ(outcome.statistics.succeeded_count(), 100);
  EXPECT_NEAR(outcome.service_time_ns.max(), 101 * kMs, kToleranceNs);
}

TEST(FaultsTest, StoppingEndsAFreeze) {
  VirtualTimeSystem system(
      WithFault("freeze: true start: '200ms' duration: '1h'"), 1);
  system.RunFor(400 * kMs);
  system.StopAll("enough");
  ASSERT_TRUE(system.Run());
  const FaultOutcome outcome(system);
  ASSERT_EQ(outcome.fault().times_size(), 1);
  EXPECT_NEAR(outcome.EndNs(0), 400 * kMs, 2 * kMs);
}

// The replay of a trace with these records.
std::string Replay(absl::string_view records, absl::string_view faults) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        rpc_replay_traces {
          name: "trace"
          client: "client"
          server: "server"
          defaults { timing_mode: RELATIVE_TO_TRACE_START } $0
        }
        action_lists { name: "client" action_names: "run" }
        actions { name: "run" rpc_replay_trace_name: "trace" } $1)pb",
      records, faults);
}

TEST(FaultsTest, ReplayedRequestsAreAffected) {
  constexpr char kRecords[] = R"pb(
    records { timing_ns: 1000000 }
    records { timing_ns: 2000000 server_processing_time_ns: 4000000 }
    records { timing_ns: 20000000 })pb";
  const FaultOutcome outcome = RunWith(Replay(kRecords, R"pb(
    server_faults {
      name: "fault"
      service: "server"
      extra_latency: "5ms"
      duration: "10ms"
    }
    server_faults {
      name: "errors"
      service: "server"
      error_code: "UNAVAILABLE"
      start: "15ms"
    })pb"));
  EXPECT_EQ(outcome.statistics.failed_count(), 1);
  EXPECT_EQ(outcome.fault().request_count(), 2);
  EXPECT_NEAR(outcome.service_time_ns.min(), 5 * kMs, kToleranceNs);
  EXPECT_NEAR(outcome.service_time_ns.max(), 9 * kMs, kToleranceNs);
}

}  // namespace

// The end of a test while its servers fail on purpose.

namespace {

// Runs a test for 10 ms and stops it. Then no instance may have anything more
// to do, because Engine::Shutdown() would wait for it.
ServiceLogs LogsAfterStop(const DistributedSystemDescription& test) {
  VirtualTimeSystem system(test, /*workers=*/1);
  system.RunFor(10'000'000);
  system.StopAll("enough");
  EXPECT_TRUE(system.Run());
  for (const config::InstancePlan& instance : system.plan().instances) {
    Engine& engine = system.engine(instance.name);
    while (engine.RunOnce()) {
    }
    const int64_t due_ns = engine.next_due_ns();
    if (due_ns == std::numeric_limits<int64_t>::max()) continue;
    ADD_FAILURE() << instance.name << " still waits for " << due_ns;
    system.clock().SetMonotonicNs(due_ns);  // lets Finish() return
  }
  return system.Finish();
}

int64_t AffectedRequests(const ServiceLogs& logs, absl::string_view server) {
  return logs.instance_logs()
      .at(std::string(server))
      .fault_logs()
      .at("late")
      .request_count();
}

// A request each millisecond.
DistributedSystemDescription LateServer(absl::string_view more = "") {
  return ParseTest(ClientServer(
      "iterations { open_loop_interval_ns: 1000000 }",
      absl::Substitute("server_faults { name: 'late' service: 'server' "
                       "extra_latency: '1h' } $0",
                       more)));
}

TEST(FaultsAtTheEndTest, DelayedAnswersEnd) {
  const ServiceLogs logs = LogsAfterStop(LateServer());
  const RpcStatistics statistics = StatisticsOf(logs, "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 0);
  EXPECT_GT(statistics.failed_count(), 5);
  EXPECT_EQ(AffectedRequests(logs, "server/0"), statistics.failed_count());
}

// A stop ends the lists of requests. Their answers are not delayed then.
TEST(FaultsAtTheEndTest, AnswersThatAStopMakesReadyAreNotDelayed) {
  DistributedSystemDescription test = LateServer(R"pb(
    actions { name: "wait" activity_config_name: "wait" }
    activity_configs {
      name: "wait"
      activity_settings { name: "activity_func" string_value: "Wait" }
      activity_settings { name: "mean_us" int64_value: 3600000 }
    })pb");
  test.mutable_action_lists(1)->add_action_names("wait");
  const ServiceLogs logs = LogsAfterStop(test);
  EXPECT_GT(StatisticsOf(logs, "client/0", "server/0").failed_count(), 5);
  EXPECT_EQ(AffectedRequests(logs, "server/0"), 0);
}

TEST(FaultsAtTheEndTest, ReplayedRequestsInProcessingAreNotDelayed) {
  const ServiceLogs logs = LogsAfterStop(ParseTest(Replay(
      "records { timing_ns: 1000000 server_processing_time_ns: 900000000 }",
      "server_faults { name: 'late' service: 'server' extra_latency: '1h' }")));
  EXPECT_EQ(AffectedRequests(logs, "server/0"), 0);
}

// With threads. Returns how often the fault was in effect, if the test is
// stopped after this time.
int64_t FreezesOfStoppedThreads(absl::Duration delay) {
  TestSequence sequence;
  *sequence.add_tests() = ParseTest(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    action_lists { name: "lonely" action_names: "idle" }
    actions { name: "idle" }
    server_faults {
      name: "fault"
      service: "lonely"
      freeze: true
      duration: "1000h"
    })pb");
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  EngineOptions options;
  options.plan =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  options.worker_count = 2;
  auto engine =
      Engine::Create(std::move(options), protocol::MakeLoopbackDriver());
  EXPECT_TRUE(engine.ok()) << engine.status();
  EXPECT_TRUE((*engine)->Connect({}, absl::InfiniteFuture()).ok());
  (*engine)->Start(base::RealClock().MonotonicNs());
  absl::SleepFor(delay);
  const absl::Time stop = absl::Now();
  (*engine)->Stop("enough");
  (*engine)->Shutdown();
  EXPECT_LT(absl::Now() - stop, absl::Seconds(60));
  int64_t times = 0;
  (*engine)->Collect([&](const ResultChunk& chunk) {
    for (const auto& [name, fault] : chunk.instance_log().fault_logs()) {
      times += fault.times_size();
    }
  });
  return times;
}

// A stop that comes before the worker sees the fault proves nothing, so there
// are several attempts.
TEST(FaultsAtTheEndTest, AThreadThatIsFrozenCanBeStopped) {
  absl::Duration delay = absl::Milliseconds(10);
  while (FreezesOfStoppedThreads(delay) == 0) {
    delay *= 4;
    ASSERT_LT(delay, absl::Minutes(1)) << "the fault does not happen";
  }
}

}  // namespace
}  // namespace distbench::engine
