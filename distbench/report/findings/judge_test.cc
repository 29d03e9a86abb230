// For each finding: a result that provokes it, and one that must not.

#include "distbench/report/findings/judge.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstSecond = 1'700'000'000;
constexpr int kSeconds = 30;

Histogram Repeated(int64_t value, int64_t count) {
  LogHistogram histogram;
  histogram.RecordN(value, count);
  Histogram proto;
  EncodeHistogram(histogram, proto);
  return proto;
}

// A run without findings: an open loop of 100 RPCs per second for 30 s, on its
// own host.
class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"pb(
          traffic_config {
            services { name: "client" count: 1 }
            services { name: "server" count: 1 }
            rpc_descriptions { name: "query" client: "client" server: "server" }
            action_lists { name: "client" action_names: "run" }
            actions {
              name: "run"
              rpc_name: "query"
              iterations { open_loop_interval_ns: 10000000 }
            }
          }
          placement {
            service_endpoints {
              key: "client/0"
              value { node_alias: "node0" }
            }
          }
          resource_usage_logs {
            node_resources {
              key: "node0"
              value { host { hostname: "h" online_cpu_count: 4 } }
            }
          }
        )pb",
        &result_));
    Load().set_offered_count(3000);
    Statistics().set_succeeded_count(3000);
    *Statistics().mutable_service_time_ns() = Repeated(1'000'000, 3000);
    *Statistics().mutable_response_time_ns() = Repeated(1'010'000, 3000);
    *Statistics().mutable_lateness_ns() = Repeated(10'000, 3000);
    RpcTimeSeries& series = Series();
    series.set_interval_ns(kSecond);
    for (int i = 0; i < kSeconds; ++i) {
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(kFirstSecond + i);
      interval.set_offered_count(100);
      interval.set_sent_count(100);
      interval.set_succeeded_count(100);
      // The median varies a little, as in reality.
      *interval.mutable_service_time_ns() =
          Repeated(1'000'000 + 20'000 * (i % 3), 100);
      ResourceSample& sample = *Resources().add_samples();
      sample.set_duration_ns(kSecond);
      sample.set_host_cpu_ns(2 * kSecond);
      sample.set_process_cpu_ns(2 * kSecond - kSecond / 2);
    }
  }

  ServicePerformanceLog& Log() {
    return (
        *result_.mutable_service_logs()->mutable_instance_logs())["client/0"];
  }
  OfferedLoad& Load() { return (*Log().mutable_offered_loads())[0]; }
  RpcTimeSeries& Series() { return (*Log().mutable_rpc_time_series())[0]; }
  RpcStatistics& Statistics() {
    return *(*(*Log().mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
                .mutable_statistics();
  }
  NodeResources& Resources() {
    return (*result_.mutable_resource_usage_logs()
                 ->mutable_node_resources())["node0"];
  }
  HostCounters& Counters() {
    return *Resources().mutable_samples(0)->mutable_host_counters();
  }
  Iterations& Loop() {
    return *result_.mutable_traffic_config()
                ->mutable_actions(0)
                ->mutable_iterations();
  }

  // Turns the run into a closed loop.
  void CloseLoop() {
    Loop().clear_open_loop_interval_ns();
    Log().clear_offered_loads();
    Statistics().clear_lateness_ns();
    Statistics().clear_response_time_ns();
    for (RpcInterval& interval : *Series().mutable_intervals()) {
      interval.clear_offered_count();
    }
  }

  void SendPerSecond(const std::function<int64_t(int)>& count) {
    for (int i = 0; i < kSeconds; ++i) {
      Series().mutable_intervals(i)->set_sent_count(count(i));
    }
  }

  // The same for four times as long, in intervals of 4 s.
  void WidenIntervals() {
    Series().set_interval_ns(4 * kSecond);
    SendPerSecond([](int) { return 400; });
  }

  void UseCpus(int64_t host_ns, int64_t process_ns) {
    for (ResourceSample& sample : *Resources().mutable_samples()) {
      sample.set_host_cpu_ns(host_ns);
      sample.set_process_cpu_ns(process_ns);
    }
  }

  void ClockFor(const std::string& node, int64_t error_ns) {
    (*result_.mutable_run_info()->mutable_clock_offsets())[node].set_error_ns(
        error_ns);
  }

  void ExpectNothing() {
    const std::vector<Finding> findings = Judge(result_);
    for (const Finding& finding : findings) {
      ADD_FAILURE() << finding.ShortDebugString();
    }
  }

  // Expects exactly this finding; returns its message.
  std::string ExpectOne(Finding::Severity severity, absl::string_view code) {
    const std::vector<Finding> findings = Judge(result_);
    EXPECT_THAT(findings, SizeIs(1));
    if (findings.size() != 1) return "";
    EXPECT_EQ(findings[0].code(), std::string(code));
    EXPECT_EQ(findings[0].severity(), severity) << findings[0].message();
    return findings[0].message();
  }

  // The message of the finding; empty if there is none.
  std::string Find(absl::string_view code) {
    for (const Finding& finding : Judge(result_)) {
      if (finding.code() == std::string(code)) return finding.message();
    }
    return "";
  }

  TestResult result_;
};

TEST_F(JudgeTest, AGoodRunHasNoFindings) { ExpectNothing(); }

TEST_F(JudgeTest, AGoodClosedLoopHasNoFindings) {
  CloseLoop();
  ExpectNothing();
}

TEST_F(JudgeTest, AnEmptyResultIsJudgedToo) {
  result_ = TestResult();
  ExpectOne(Finding::WARN, "nothing_measured");
}

TEST_F(JudgeTest, RpcsOfWhichNoneWasMeasuredAreInvalid) {
  result_ = TestResult();
  result_.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  ExpectOne(Finding::INVALID, "nothing_measured");
}

TEST_F(JudgeTest, AFailureExplainsThatNothingWasMeasured) {
  result_ = TestResult();
  result_.mutable_run_info()->set_failure("node1 was lost");
  ExpectNothing();
}

// ---- unsent_load, held_back -------------------------------------------------

// Time parts of RPCs; for `contradicting` of them, the network took no time.
void AddTimeParts(int64_t count, int64_t contradicting,
                  RpcStatistics& statistics) {
  *statistics.mutable_server_queue_ns() = Repeated(100'000, count);
  *statistics.mutable_server_handler_ns() = Repeated(800'000, count);
  LogHistogram network_ns;
  network_ns.RecordN(100'000, count - contradicting);
  network_ns.RecordN(0, contradicting);
  EncodeHistogram(network_ns, *statistics.mutable_network_ns());
}

TEST_F(JudgeTest, TimePartsOfAllRpcsAreNoFinding) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 0, Statistics());
  ExpectNothing();
}

TEST_F(JudgeTest, TimePartsThatNoServerReportedAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 3000 of 3000 RPCs"));
}

TEST_F(JudgeTest, OneRpcWithoutTimePartsIsAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(2999, 0, Statistics());
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 1 of 3000 RPCs"));
}

TEST_F(JudgeTest, SomeContradictionsOfClocksAreANote) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 30, Statistics());
  EXPECT_THAT(ExpectOne(Finding::NOTE, "time_parts_contradict"),
              HasSubstr("for 30 RPCs (1.0 %)"));
}

TEST_F(JudgeTest, ManyContradictionsOfClocksAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 31, Statistics());
  ExpectOne(Finding::WARN, "time_parts_contradict");
}

TEST_F(JudgeTest, MuchUnsentLoadMakesTheRunInvalid) {
  Load().set_unsent_count(31);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "unsent_load"),
              HasSubstr("31 of 3000 RPCs that were due (1.0 %)"));
}

TEST_F(JudgeTest, ALittleUnsentLoadDoesNot) {
  Load().set_unsent_count(30);
  ExpectOne(Finding::WARN, "unsent_load");
  Load().set_unsent_count(1);
  ExpectOne(Finding::NOTE, "unsent_load");
}

TEST_F(JudgeTest, ACapThatIsHitOftenIsAWarning) {
  Load().set_held_back_count(31);
  EXPECT_THAT(ExpectOne(Finding::WARN, "held_back"),
              HasSubstr("max_parallel_iterations"));
}

TEST_F(JudgeTest, ACapThatIsHitOnceIsANote) {
  Load().set_held_back_count(1);
  ExpectOne(Finding::NOTE, "held_back");
}

// ---- late_sends -------------------------------------------------------------

TEST_F(JudgeTest, ATailThatIsTheGeneratorsOwnMakesTheRunInvalid) {
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(3'000'000, 3000);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "late_sends"), HasSubstr("2.00 ms"));
}

TEST_F(JudgeTest, SomeLatenessIsAWarning) {
  *Statistics().mutable_lateness_ns() = Repeated(200'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(1'200'000, 3000);
  ExpectOne(Finding::WARN, "late_sends");
}

TEST_F(JudgeTest, LatenessThatTheResponseTimeDwarfsIsNothing) {
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(100'000'000, 3000);
  ExpectNothing();
}

TEST_F(JudgeTest, LatenessOfAWakeUpIsNothing) {
  *Statistics().mutable_lateness_ns() = Repeated(60'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(100'000, 3000);
  ExpectNothing();
}

TEST_F(JudgeTest, LatenessThatTheCapCausedIsTheCaps) {
  *Statistics().mutable_lateness_ns() = Repeated(50'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(51'000'000, 3000);
  Load().set_held_back_count(1500);
  ExpectOne(Finding::WARN, "held_back");
}

// ---- arrivals ---------------------------------------------------------------

TEST_F(JudgeTest, AConstantRateThatIsNotIsAWarning) {
  // A pause of one second, and its consequence.
  SendPerSecond([](int i) { return i == 10 ? 0 : i == 11 ? 200 : 100; });
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "arrivals"),
      HasSubstr("query of client/0 should have been sent at a constant rate"));
}

TEST_F(JudgeTest, AConstantRateMayBreatheAtTheEdgesOfSeconds) {
  SendPerSecond([](int i) { return 100 + i % 2; });
  ExpectNothing();
}

TEST_F(JudgeTest, APoissonProcessIsOne) {
  Loop().set_open_loop_interval_distribution("exponential");
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::poisson_distribution<int64_t> count(100);
    SendPerSecond([&](int) { return count(random); });
    ExpectNothing();
  }
}

TEST_F(JudgeTest, APoissonProcessThatBunchesIsAWarning) {
  Loop().set_open_loop_interval_distribution("exponential");
  SendPerSecond([](int i) { return i % 2 == 0 ? 60 : 140; });
  EXPECT_THAT(ExpectOne(Finding::WARN, "arrivals"), HasSubstr("Poisson"));
}

TEST_F(JudgeTest, APoissonProcessThatIsTooEvenIsAWarning) {
  Loop().set_open_loop_interval_distribution("exponential");
  ExpectOne(Finding::WARN, "arrivals");
}

TEST_F(JudgeTest, AFanoutMultipliesWhatIsSent) {
  Loop().set_open_loop_interval_distribution("exponential");
  std::mt19937_64 random(1);
  std::poisson_distribution<int64_t> count(100);
  SendPerSecond([&](int) { return 8 * count(random); });
  ExpectNothing();
}

TEST_F(JudgeTest, ArrivalsOfABurstAreNotJudged) {
  Loop().set_open_loop_interval_distribution("sync_burst");
  SendPerSecond([](int i) { return 100 * (i % 4); });
  ExpectNothing();
}

// ---- stalls -----------------------------------------------------------------

class StallsTest : public JudgeTest {
 protected:
  StallsTest() { CloseLoop(); }

  // RPCs of `usual_ns`, and ten of `long_ns`, as if ten had been in flight when
  // the server stalled.
  void Serve(int64_t usual_count, int64_t usual_ns, int64_t long_ns) {
    LogHistogram times;
    times.RecordN(usual_ns, usual_count);
    times.RecordN(long_ns, 10);
    EncodeHistogram(times, *Statistics().mutable_service_time_ns());
  }
};

TEST_F(StallsTest, AStallThatFewRpcsShowIsAWarning) {
  // Of 36 s, 6 s. In 1 % of the time more than (6 - 0.36) / 10 s are left, plus
  // the error of a bucket.
  Serve(100'000, 300'000, 600'000'000);
  EXPECT_THAT(ExpectOne(Finding::WARN, "stalls"),
              AllOf(HasSubstr("more than 565."), HasSubstr("only 0.010 %"),
                    HasSubstr("took 16.7 %"), HasSubstr("not of 300.0 us")));
}

TEST_F(StallsTest, AShortStallIsNone) {
  Serve(100'000, 300'000, 30'000'000);  // 1 % of the time
  ExpectNothing();
}

TEST_F(StallsTest, TheLimitIsFiveTimesThe99thPercentile) {
  // 0.99 L - 1 ms is left.
  Serve(1'000, 1'000'000, 6'000'000);
  ExpectNothing();
  Serve(1'000, 1'000'000, 6'200'000);
  ExpectOne(Finding::WARN, "stalls");
}

TEST_F(StallsTest, LessThanAMillisecondIsNone) {
  Serve(10'000, 1'000, 900'000);
  ExpectNothing();
  Serve(10'000, 1'000, 1'100'000);
  ExpectOne(Finding::WARN, "stalls");
}

TEST_F(StallsTest, TooFewRpcsProveNothing) {
  Serve(989, 300'000, 60'000'000);
  ExpectNothing();
}

TEST_F(StallsTest, ExponentialTimesAreNone) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> draw(1.0 / 10'000'000);
  LogHistogram times;
  for (int i = 0; i < 100'000; ++i) {
    times.Record(static_cast<int64_t>(draw(random)));
  }
  EncodeHistogram(times, *Statistics().mutable_service_time_ns());
  ExpectNothing();
}

TEST_F(StallsTest, AnOpenLoopSendsMeanwhile) {
  Serve(100'000, 300'000, 600'000'000);
  Loop().set_open_loop_interval_ns(10'000'000);
  EXPECT_EQ(Find("stalls"), "");
}

TEST_F(StallsTest, RpcsOfHandlersHaveTheRateOfTheirRequests) {
  Serve(100'000, 300'000, 600'000'000);
  result_.mutable_traffic_config()->mutable_action_lists(0)->set_name("other");
  EXPECT_EQ(Find("stalls"), "");
}

TEST_F(StallsTest, OtherRpcsOfTheLoopDoNotMatter) {
  Serve(100'000, 300'000, 600'000'000);
  result_.mutable_traffic_config()->mutable_actions(0)->set_rpc_name("other");
  EXPECT_EQ(Find("stalls"), "");
}

// ---- not_steady -------------------------------------------------------------

TEST_F(JudgeTest, LatenciesThatSettleDuringTheRunAreAWarning) {
  for (int i = 0; i < kSeconds; ++i) {
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

// ---- failed_rpcs, samples_dropped -------------------------------------------

TEST_F(JudgeTest, ManyFailuresAreAWarning) {
  Statistics().set_failed_count(31);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_rpcs"), HasSubstr("31 RPCs"));
}

TEST_F(JudgeTest, MoreFailuresThanAnswersAreInvalid) {
  Statistics().set_failed_count(Statistics().succeeded_count() + 1);
  ExpectOne(Finding::INVALID, "failed_rpcs");
  Statistics().set_failed_count(Statistics().succeeded_count() - 1);
  ExpectOne(Finding::WARN, "failed_rpcs");
}

TEST_F(JudgeTest, FewFailuresAreANote) {
  Statistics().set_failed_count(1);
  ExpectOne(Finding::NOTE, "failed_rpcs");
}

TEST_F(JudgeTest, DroppedSamplesAreANote) {
  Statistics().set_dropped_sample_count(5);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "samples_dropped"),
              HasSubstr("samples of 5 RPCs"));
}

TEST_F(JudgeTest, SamplesThatNobodyWantedAreNotMissed) {
  Statistics().set_dropped_sample_count(5);
  result_.mutable_traffic_config()->set_sample_memory_bytes(0);
  ExpectNothing();
}

// ---- cpu_saturated, other_load ----------------------------------------------

TEST_F(JudgeTest, AnOpenLoopThatSaturatesItsHostIsAWarning) {
  UseCpus(4 * kSecond, 4 * kSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "cpu_saturated"),
              HasSubstr("host h were 100.0 % busy"));
}

TEST_F(JudgeTest, AClosedLoopThatSaturatesItsHostIsANote) {
  CloseLoop();
  UseCpus(4 * kSecond, 4 * kSecond);
  ExpectOne(Finding::NOTE, "cpu_saturated");
}

TEST_F(JudgeTest, OtherProgramsOnTheHostAreAWarning) {
  UseCpus(3 * kSecond, 2 * kSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "other_load"), HasSubstr("25.0 %"));
}

TEST_F(JudgeTest, OtherNodesOnTheHostAreNotOthers) {
  UseCpus(3 * kSecond, 2 * kSecond);
  (*result_.mutable_resource_usage_logs()->mutable_node_resources())["node1"] =
      Resources();
  ExpectNothing();
}

TEST_F(JudgeTest, AHostThatUsesAllThatWasNotStolenIsSaturated) {
  UseCpus(3 * kSecond, 3 * kSecond);
  Counters().set_steal_cpu_ns(kSeconds * kSecond);
  const std::vector<Finding> findings = Judge(result_);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].code(), "cpu_saturated");
  EXPECT_EQ(findings[1].code(), "stolen");
}

// ---- waited_for_cpu
// ----------------------------------------------------------

// Other programs run for half of the time, on one of four CPUs.
TEST_F(JudgeTest, WaitingForACpuThatOthersHadIsAWarning) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(4 * kSecond);
  EXPECT_THAT(ExpectOne(Finding::WARN, "waited_for_cpu"),
              HasSubstr("(13.3 % of the time)"));
}

TEST_F(JudgeTest, AShortWaitIsNothing) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(2 * kSecond);
  ExpectNothing();
}

TEST_F(JudgeTest, ThreadsThatWaitForEachOtherAreNothing) {
  Resources().mutable_samples(0)->set_run_queue_delay_ns(20 * kSecond);
  UseCpus(2 * kSecond, 2 * kSecond);
  ExpectNothing();
}

TEST_F(JudgeTest, TheWaitsOfAllNodesOfAHostCount) {
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other.mutable_host()->CopyFrom(Resources().host());
  ResourceSample& sample = *other.add_samples();
  sample.set_run_queue_delay_ns(2 * kSecond);
  Resources().mutable_samples(0)->set_run_queue_delay_ns(2 * kSecond);
  ExpectOne(Finding::WARN, "waited_for_cpu");
}

// ---- stolen -----------------------------------------------------------------

// 30 s of 4 CPUs.
constexpr int64_t kCapacity = 4 * kSeconds * kSecond;

TEST_F(JudgeTest, LittleStolenTimeIsNothing) {
  Counters().set_steal_cpu_ns(kCapacity * 4 / 1000);
  ExpectNothing();
}

TEST_F(JudgeTest, StolenTimeIsANote) {
  Counters().set_steal_cpu_ns(kCapacity * 6 / 1000);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "stolen"),
              HasSubstr("took 0.6 % of the CPU time of host h"));
}

TEST_F(JudgeTest, MuchStolenTimeIsAWarning) {
  Counters().set_steal_cpu_ns(kCapacity * 6 / 100);
  ExpectOne(Finding::WARN, "stolen");
}

// ---- throttled --------------------------------------------------------------

TEST_F(JudgeTest, AnyThrottlingIsANote) {
  Counters().set_throttled_count(1);
  Counters().set_throttled_ns(kSeconds * kSecond / 200);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "throttled"),
              HasSubstr("stopped it once, for 150.00 ms over all CPUs (0.5 "
                        "% of the time)"));
}

TEST_F(JudgeTest, MuchThrottlingIsAWarning) {
  Counters().set_throttled_count(3);
  Counters().set_throttled_ns(kSeconds * kSecond / 50);
  ExpectOne(Finding::WARN, "throttled");
}

TEST_F(JudgeTest, ThrottlingOfAnyNodeOfAHostCounts) {
  UseCpus(3 * kSecond, 2 * kSecond);
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other = Resources();
  HostCounters& counters = *other.mutable_samples(0)->mutable_host_counters();
  counters.set_throttled_count(3);
  counters.set_throttled_ns(kSecond);
  ExpectOne(Finding::WARN, "throttled");
}

// ---- retransmits ------------------------------------------------------------

TEST_F(JudgeTest, FewRetransmitsAreNothing) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(99);
  ExpectNothing();
}

TEST_F(JudgeTest, RetransmitsAreANote) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(200);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "retransmits"),
              HasSubstr("host h sent 200 TCP segments again, 0.020 %"));
}

TEST_F(JudgeTest, ManyRetransmitsAreAWarning) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  ExpectOne(Finding::WARN, "retransmits");
}

TEST_F(JudgeTest, RetransmitsAmongFewSegmentsAreANote) {
  Counters().set_tcp_sent_segments(1000);
  Counters().set_tcp_retransmitted_segments(9);
  ExpectOne(Finding::NOTE, "retransmits");
}

// 30 samples in each of which the test's connections send 1000 segments.
DataConnections& FirstOfConnections(NodeResources& node) {
  for (ResourceSample& sample : *node.mutable_samples()) {
    sample.mutable_data_connections()->set_sent_segments(1000);
  }
  return *node.mutable_samples(0)->mutable_data_connections();
}

TEST_F(JudgeTest, RetransmitsOfOtherProgramsAreNothing) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  FirstOfConnections(Resources()).set_retransmitted_segments(3);
  ExpectNothing();
}

TEST_F(JudgeTest, ATestWithoutConnectionsHasNoRetransmits) {
  Counters().set_tcp_sent_segments(1'000'000);
  Counters().set_tcp_retransmitted_segments(2000);
  Resources().mutable_samples(0)->mutable_data_connections();
  ExpectNothing();
}

TEST_F(JudgeTest, RetransmitsOfTheTestNameTheWorstConnection) {
  FirstOfConnections(Resources()).set_retransmitted_segments(31);
  for (const int retransmitted : {2, 29, 4}) {
    DataConnection& connection = *Resources().add_data_connections();
    connection.set_local_address("10.0.0.1:40000");
    connection.set_peer_address(absl::StrCat("10.0.0.2:", retransmitted));
    connection.set_instance("client/0");
    connection.set_retransmitted_segments(retransmitted);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "retransmits"),
              HasSubstr("the test on host h sent 31 TCP segments again, 0.1 % "
                        "of all that it sent, most from 10.0.0.1:40000 to "
                        "10.0.0.2:29 (29 of client/0)"));
}

TEST_F(JudgeTest, RetransmitsOfAllNodesOfAHostAreAddedUp) {
  NodeResources& other = (*result_.mutable_resource_usage_logs()
                               ->mutable_node_resources())["node1"];
  other = Resources();
  other.clear_samples();
  *other.add_samples() = Resources().samples(0);
  DataConnections& connections =
      *other.mutable_samples(0)->mutable_data_connections();
  connections.set_sent_segments(10'000);
  connections.set_retransmitted_segments(20);
  FirstOfConnections(Resources()).set_retransmitted_segments(12);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "retransmits"),
              HasSubstr("sent 32 TCP segments again, 0.080 %"));
}

// ---- requirement_not_met ----------------------------------------------------

TEST_F(JudgeTest, HostsThatDoNotMeetRequirementsAreAWarningEach) {
  HostRequirements& requirements =
      *result_.mutable_traffic_config()->mutable_requirements();
  requirements.set_strict(false);
  requirements.add_facts()->set_name("smt");
  requirements.mutable_facts(0)->set_string_value("off");
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_is_smt_active(false);
  ExpectNothing();
  for (const std::string alias : {"node1", "node2"}) {
    nodes[alias].mutable_host()->set_hostname("g");
    nodes[alias].mutable_host()->set_is_smt_active(true);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "requirement_not_met"),
              HasSubstr("host g does not meet the test's requirements: smt is "
                        "\"on\", but the test requires \"off\". "));
  nodes["node3"].mutable_host()->set_hostname("i");
  EXPECT_THAT(Judge(result_), SizeIs(2));
}

// ---- congestion_control_differs ---------------------------------------------

TEST_F(JudgeTest, DifferentCongestionControlsAreAWarning) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node1"].mutable_host()->set_tcp_congestion_control("cubic");
  nodes["node2"].mutable_host()->set_tcp_congestion_control("cubic");
  EXPECT_THAT(ExpectOne(Finding::WARN, "congestion_control_differs"),
              HasSubstr("(bbr on node0, cubic on node1 and 1 more)"));
}

TEST_F(JudgeTest, CongestionControlsThatAreAlikeOrNotKnownAreNothing) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node1"].mutable_host()->set_tcp_congestion_control("bbr");
  nodes["node2"].mutable_host()->set_hostname("old");
  ExpectNothing();
}

TEST_F(JudgeTest, CongestionControlsAreThoseOfDataConnections) {
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  for (const std::string alias : {"node0", "node1"}) {
    nodes[alias].mutable_host()->set_tcp_congestion_control("cubic");
    nodes[alias].add_data_connections()->set_congestion_control("cubic");
  }
  nodes["node1"].mutable_host()->set_tcp_congestion_control("bbr");
  ExpectNothing();
  nodes["node1"].add_data_connections()->set_congestion_control("dctcp");
  EXPECT_THAT(ExpectOne(Finding::WARN, "congestion_control_differs"),
              HasSubstr("(cubic on node0 and 1 more, dctcp on node1)"));
}

// ---- binding_not_held -------------------------------------------------------

class JudgeBindingsTest : public JudgeTest {
 protected:
  BindingProof& Proof() {
    NodeResources& node = (*result_.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node7"];
    return (*node.mutable_binding_proofs())["server/0"];
  }
};

TEST_F(JudgeBindingsTest, AStrictBindingThatDidNotHoldIsInvalid) {
  Proof().mutable_binding()->set_strict(true);
  Proof().add_violations("its threads spent 5 us on CPUs 3, outside of 0-1");
  EXPECT_THAT(ExpectOne(Finding::INVALID, "binding_not_held"),
              HasSubstr("server/0 on node7 did not run where its binding says: "
                        "its threads spent 5 us on CPUs 3"));
}

TEST_F(JudgeBindingsTest, ABestEffortThatFailedIsAWarning) {
  Proof().mutable_binding()->set_strict(false);
  Proof().add_violations("the host has no NUMA node 3");
  ExpectOne(Finding::WARN, "binding_not_held");
}

TEST_F(JudgeBindingsTest, ABindingThatHeldIsNothing) {
  Proof().mutable_binding()->set_cpus("0-1");
  ExpectNothing();
}

// ---- controls_not_held ------------------------------------------------------

class JudgeControlsTest : public JudgeTest {
 protected:
  ControlProof& AddProof(bool held) {
    NodeResources& node = (*result_.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node7"];
    ControlProof& proof = *node.add_controls();
    proof.set_group("server/0");
    proof.set_file("memory.high");
    proof.set_held(held);
    if (!held) proof.set_problem("says max");
    return proof;
  }
};

TEST_F(JudgeControlsTest, AStrictControlThatDidNotHoldIsInvalid) {
  AddProof(true);
  AddProof(false);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "controls_not_held"),
              HasSubstr("node7 did not hold 1 of 2 settings of control groups "
                        "from start to end: memory.high of server/0: says "
                        "max. The test requires them"));
}

TEST_F(JudgeControlsTest, ABestEffortThatFailedIsAWarning) {
  result_.mutable_traffic_config()->mutable_controls()->set_strict(false);
  ControlProof& proof = AddProof(false);
  proof.clear_file();
  proof.clear_group();
  proof.set_path("/system.slice");
  EXPECT_THAT(ExpectOne(Finding::WARN, "controls_not_held"),
              HasSubstr("/system.slice: says max. Do not take"));
}

TEST_F(JudgeControlsTest, ManyFailuresAreCounted) {
  for (int i = 0; i < 7; ++i) AddProof(false);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "controls_not_held"),
              HasSubstr("; and 2 more"));
}

TEST_F(JudgeControlsTest, ControlsThatHeldAreNothing) {
  AddProof(true);
  ExpectNothing();
}

// ---- clock_error ------------------------------------------------------------

TEST_F(JudgeTest, AnUncertainClockIsANote) {
  ClockFor("node1", 2'000'000);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "clock_error"), HasSubstr("node1"));
}

TEST_F(JudgeTest, AnUncertainClockOfSynchronisedBurstsIsAWarning) {
  ClockFor("node1", 2'000'000);
  Loop().set_open_loop_interval_distribution("sync_burst_spread");
  ExpectOne(Finding::WARN, "clock_error");
}

TEST_F(JudgeTest, AClockThatIsKnownIsNothing) {
  ClockFor("node1", 900'000);
  ExpectNothing();
}

// ---- brief_pairs, wide_intervals --------------------------------------------

TEST_F(JudgeTest, PairsWithoutHistogramsAreANote) {
  Statistics().clear_service_time_ns();
  ValueMoments& moments = *Statistics().mutable_service_time_moments();
  moments.set_count(1);
  moments.set_min(1);
  moments.set_max(1);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "brief_pairs"),
              HasSubstr("1 of 1 combinations"));
}

TEST_F(JudgeTest, WideIntervalsAreANote) {
  WidenIntervals();
  EXPECT_THAT(ExpectOne(Finding::NOTE, "wide_intervals"),
              HasSubstr("intervals of 4 s"));
}

// Ignoring the length of the intervals would make the rate look four times as
// high.
TEST_F(JudgeTest, ArrivalsAreJudgedByTheLengthOfTheIntervals) {
  WidenIntervals();
  Loop().set_open_loop_interval_distribution("exponential");
  std::mt19937_64 random(1);
  std::poisson_distribution<int64_t> arrivals(400);
  SendPerSecond([&](int) { return arrivals(random); });
  ExpectOne(Finding::NOTE, "wide_intervals");
  SendPerSecond([](int i) { return i % 2 == 0 ? 200 : 600; });
  EXPECT_THAT(Find("arrivals"), HasSubstr("intervals of 4 s"));
}

TEST_F(JudgeTest, TimesAreToldInSeconds) {
  WidenIntervals();
  for (int i = 0; i < kSeconds; ++i) {
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(i < 10 ? 3'000'000 : 1'000'000 + 10'000 * (i % 3), 100);
  }
  EXPECT_THAT(Find("not_steady"),
              AllOf(HasSubstr("in the first 20 s "), HasSubstr("last 56 s "),
                    HasSubstr("medians of intervals of 4 s")));
}

// ---- measurements_lost ------------------------------------------------------

TEST_F(JudgeTest, LostMeasurementsAreAWarning) {
  result_.mutable_run_info()->set_start_timestamp_ns(kFirstSecond * kSecond);
  Log().set_measurements_end_timestamp_ns((kFirstSecond + 7) * kSecond);
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "measurements_lost"),
      HasSubstr("client/0: its measurements end 7 s after the start, at "
                "2023-11-14 22:13:27 UTC; the rest is lost"));
  Log().set_measurements_end_timestamp_ns(0);
  EXPECT_THAT(ExpectOne(Finding::WARN, "measurements_lost"),
              HasSubstr("client/0: none of its measurements are left"));
}

// ---- failed_operations ------------------------------------------------------

TEST_F(JudgeTest, WorkThatTheSystemRefusedIsAWarning) {
  ActivityLog& log = (*Log().mutable_activity_logs())["hog"];
  ActivityMetric& iterations = *log.add_activity_metrics();
  iterations.set_name("iteration_count");
  iterations.set_value_int(20);
  ActivityMetric& failed = *log.add_activity_metrics();
  failed.set_name("failed_operations");
  failed.set_value_int(3);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_operations"),
              HasSubstr("hog: 3 operations failed, in 20 iterations"));
  failed.set_value_int(0);
  ExpectNothing();
}

}  // namespace
}  // namespace distbench
