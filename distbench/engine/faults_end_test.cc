// The end of a test while its servers fail on purpose.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/client_server.h"
#include "distbench/engine/testing/rpc_logs.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gtest/gtest.h"

namespace distbench::engine {
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
  const ServiceLogs logs = LogsAfterStop(ParseTest(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    rpc_replay_traces {
      name: "trace"
      client: "client"
      server: "server"
      defaults { timing_mode: RELATIVE_TO_TRACE_START }
      records { timing_ns: 1000000 server_processing_time_ns: 900000000 }
    }
    action_lists { name: "client" action_names: "run" }
    actions { name: "run" rpc_replay_trace_name: "trace" }
    server_faults { name: "late" service: "server" extra_latency: "1h" })pb"));
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
