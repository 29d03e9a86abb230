#include "distbench/report/objectives/judge_attempts_and_streams.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// 100 requests per second for `seconds`, each with so many attempts; all
// succeed.
RpcMeasurements Retrying(int seconds,
                         const std::function<int64_t(int)>& attempts) {
  RpcMeasurements rpc;
  rpc.name = "query";
  PolicyStatistics& policy = rpc.attempts.emplace();
  rpc.series.interval_ns = base::kNsPerSecond;
  for (int i = 0; i < seconds; ++i) {
    IntervalTotals& totals = rpc.series.intervals[i];
    totals.sent = totals.succeeded = 100;
    totals.attempts = attempts(i);
    policy.set_attempt_count(policy.attempt_count() + totals.attempts);
  }
  const int64_t requests = 100 * seconds;
  policy.set_request_count(requests);
  policy.set_succeeded_attempt_count(requests);
  policy.set_failed_attempt_count(policy.attempt_count() - requests);
  stats::LogHistogram attempt_time_ns;
  attempt_time_ns.RecordN(2 * base::kNsPerMs, requests);
  results::EncodeHistogram(attempt_time_ns, *policy.mutable_attempt_time_ns());
  rpc.totals.counts.succeeded_count = requests;
  rpc.service_time.latency_ns.RecordN(3 * base::kNsPerMs, requests);
  rpc.measured_ns = seconds * base::kNsPerSecond;
  return rpc;
}

ObjectiveOutcome AttemptsJudgedAs(const std::string& text,
                                  const RpcMeasurements& rpc) {
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  const auto* metric = std::get_if<stats::Metric>(&objective->metric);
  const auto outcome = metric == nullptr
                           ? JudgeAttemptTime(*objective, rpc)
                           : JudgeAttempts(*objective, *metric, rpc);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.value_or(ObjectiveOutcome());
}

TEST(JudgeAttemptsTest, AmplificationIsAttemptsPerRequest) {
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return 150 + 2 * (i % 3); });
  const ObjectiveOutcome outcome = AttemptsJudgedAs("amplification<=1.2", rpc);
  EXPECT_THAT(outcome.excess.estimate, DoubleNear(std::log(1.52 / 1.2), 0.01));
  EXPECT_THAT(outcome.measured, StartsWith("amplification 1.5"));
  EXPECT_GT(*outcome.lower, 1.45);
  EXPECT_LT(*outcome.upper, 1.6);
}

TEST(JudgeAttemptsTest, AStormMakesTheAmplificationUncertain) {
  // The same attempts, but half of the time twice as many.
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return i < 10 ? 100 : 200; });
  const ObjectiveOutcome outcome = AttemptsJudgedAs("amplification<=1.6", rpc);
  EXPECT_LT(outcome.excess.estimate, 0);
  EXPECT_GT(*outcome.upper, 1.6);
}

TEST(JudgeAttemptsTest, FewRequestsProveLittle) {
  const RpcMeasurements one = Retrying(1, [](int) { return 100; });
  EXPECT_GT(*AttemptsJudgedAs("amplification<=1.01", one).upper, 1.01);
  EXPECT_LT(*AttemptsJudgedAs("amplification<=1.2", one).upper, 1.2);
  EXPECT_GT(*AttemptsJudgedAs("wasted<=1%", one).upper, 0.01);
  const RpcMeasurements long_run = Retrying(100, [](int) { return 100; });
  EXPECT_LT(*AttemptsJudgedAs("wasted<=1%", long_run).upper, 0.01);
}

TEST(JudgeAttemptsTest, WastedIsAShareOfTheAttempts) {
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return 198 + 2 * (i % 3); });
  const ObjectiveOutcome outcome = AttemptsJudgedAs("wasted<=5%", rpc);
  EXPECT_THAT(outcome.excess.estimate, DoubleNear(std::log(10), 0.02));
  EXPECT_THAT(outcome.measured, StartsWith("wasted 50"));
  EXPECT_GT(*outcome.lower, 0.45);
}

TEST(JudgeAttemptsTest, GoodputIsPerSecondOfTheMeasuredTime) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.attempts.reset();  // it needs no policy
  EXPECT_THAT(AttemptsJudgedAs("goodput>=50", rpc).excess.estimate,
              DoubleNear(-std::log(2), 0.01));
  rpc.measured_ns *= 4;
  EXPECT_THAT(AttemptsJudgedAs("goodput>=50", rpc).excess.estimate,
              DoubleNear(std::log(2), 0.01));
}

// An open loop whose seconds offer so many requests; all of them succeed but
// `lost` of each second.
RpcMeasurements OpenLoop(const std::vector<int64_t>& offered,
                         const std::function<int64_t(int64_t)>& lost) {
  RpcMeasurements rpc;
  rpc.name = "query";
  rpc.series.interval_ns = base::kNsPerSecond;
  int64_t due = 0;
  int64_t succeeded = 0;
  for (size_t i = 0; i < offered.size(); ++i) {
    due += offered[i];
    if (offered[i] == 0) continue;
    IntervalTotals& totals = rpc.series.intervals[static_cast<int64_t>(i)];
    totals.offered = totals.sent = offered[i];
    totals.succeeded = offered[i] - lost(static_cast<int64_t>(i));
    succeeded += totals.succeeded;
  }
  rpc.offered.emplace().set_offered_count(due);
  rpc.totals.counts.succeeded_count = succeeded;
  rpc.response_time.latency_ns.RecordN(3 * base::kNsPerMs, succeeded);
  rpc.measured_ns = static_cast<int64_t>(offered.size()) * base::kNsPerSecond;
  return rpc;
}

ObjectiveOutcome RateJudgedAs(const std::string& text,
                              const RpcMeasurements& rpc) {
  const config::Objective objective = *config::ParseObjective(text);
  const auto count = static_cast<double>(rpc.totals.counts.succeeded_count);
  return JudgePerSecond(objective, rpc,
                        {.metric = std::get<stats::Metric>(objective.metric),
                         .per_second = count / base::ToSeconds(rpc.measured_ns),
                         .count = count},
                        "");
}

// Poisson arrivals of 1000 per second on average.
std::vector<int64_t> Arrivals(int seconds,
                              const std::function<double(int)>& factor) {
  std::mt19937_64 random(5);
  std::vector<int64_t> offered;
  for (int i = 0; i < seconds; ++i) {
    const double mean = 1000 * factor(i);
    offered.push_back(
        mean > 0 ? std::poisson_distribution<int64_t>(mean)(random) : 0);
  }
  return offered;
}

TEST(JudgePerSecondTest, APlanThatVariesIsNoError) {
  const auto few = [](int64_t i) { return i % 3; };
  const auto cycle = [](int i) { return 1 + 0.5 * std::sin(M_PI * i / 10); };
  const auto bursts = [](int i) { return i % 10 < 2 ? 5. : 0.; };
  for (const std::vector<int64_t>& offered :
       {Arrivals(60, cycle), Arrivals(60, bursts)}) {
    const RpcMeasurements rpc = OpenLoop(offered, few);
    const ObjectiveOutcome pass = RateJudgedAs("rate>=900", rpc);
    EXPECT_GT(*pass.lower, 900);
    EXPECT_LT(*pass.upper, 1100);
    EXPECT_GT(*RateJudgedAs("goodput>=900", rpc).lower, 900);
  }
}

TEST(JudgePerSecondTest, AnOpenLoopThatStallsIsUncertain) {
  const std::vector<int64_t> offered(60, 1000);
  const RpcMeasurements rpc =
      OpenLoop(offered, [](int64_t i) { return i >= 30 && i < 33 ? 1000 : 0; });
  EXPECT_LT(*RateJudgedAs("rate>=900", rpc).lower, 900);
}

// What is outside of the whole seconds says nothing about them.
TEST(JudgePerSecondTest, SecondsWithoutAnySuccessAreNotCertain) {
  const RpcMeasurements rpc =
      OpenLoop(std::vector<int64_t>(20, 1000),
               [](int64_t i) { return i == 0 ? 0 : 1000; });
  const ObjectiveOutcome outcome = RateJudgedAs("rate>=49", rpc);
  EXPECT_LT(*outcome.lower, 49);
  EXPECT_GT(*outcome.upper, 51);
}

TEST(JudgeAttemptsTest, LateAnswersAreNoGoodput) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.response_time.latency_ns.RecordN(3 * base::kNsPerMs, 500);
  rpc.response_time.latency_ns.RecordN(900 * base::kNsPerMs, 1500);
  EXPECT_THAT(AttemptsJudgedAs("goodput>=50", rpc).measured, "goodput 100");
  rpc.deadline_ns = 50 * base::kNsPerMs;
  EXPECT_THAT(AttemptsJudgedAs("goodput>=50", rpc).measured, "goodput 25");
}

TEST(JudgeAttemptsTest, FailedAttemptsMissEveryLimit) {
  const RpcMeasurements rpc = Retrying(20, [](int) { return 110; });
  EXPECT_LT(AttemptsJudgedAs("attempt_p50<=4ms", rpc).excess.estimate, 0);
  const ObjectiveOutcome tail = AttemptsJudgedAs("attempt_p99<=1000s", rpc);
  EXPECT_TRUE(std::isinf(tail.excess.estimate));
  EXPECT_THAT(tail.measured, HasSubstr("of the attempts failed"));
}

TEST(JudgeAttemptsTest, SaysWhatIsNotMeasured) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  EXPECT_EQ(JudgeAttemptTime(*config::ParseObjective("quorum_p99<=1s"), rpc)
                .status()
                .code(),
            absl::StatusCode::kNotFound);
  rpc.attempts.reset();
  for (const char* text : {"amplification<=2", "wasted<=1%"}) {
    const config::Objective objective = *config::ParseObjective(text);
    EXPECT_THAT(
        JudgeAttempts(objective, std::get<stats::Metric>(objective.metric), rpc)
            .status()
            .message(),
        HasSubstr("has no policy"));
  }
}

// Streams of 10 gaps each. The first message takes 2 ms, and the gaps 1 ms; of
// one stream in 20, 8 ms.
RpcMeasurements StreamsWith(int streams, int failed = 0) {
  RpcMeasurements rpc;
  rpc.name = "talk";
  results::TallyOf<StreamStatistics> tally;
  tally.count(StreamStatistics::kStreamCountFieldNumber) = streams;
  for (int i = 0; i < streams; ++i) {
    tally.histogram(StreamStatistics::kFirstMessageNsFieldNumber)
        .Record(2'000'000);
    tally.histogram(StreamStatistics::kGapNsFieldNumber)
        .RecordN(i % 20 == 0 ? 8'000'000 : 1'000'000, 10);
    rpc.service_time.latency_ns.Record(12'000'000);
  }
  tally.Encode(rpc.streams.emplace());
  rpc.service_time.failed_count = failed;
  return rpc;
}

ObjectiveOutcome JudgedAs(const std::string& text, const RpcMeasurements& rpc) {
  const auto outcome = JudgeStreamTime(*config::ParseObjective(text), rpc);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.value_or(ObjectiveOutcome());
}

TEST(JudgeStreamTimeTest, ComparesTheTimeThatTheObjectiveIsAbout) {
  const RpcMeasurements rpc = StreamsWith(1000);
  const ObjectiveOutcome first = JudgedAs("first_message_p99<=1ms", rpc);
  EXPECT_THAT(first.excess.estimate, DoubleNear(std::log(2), 0.01));
  EXPECT_THAT(first.measured, StartsWith("first_message_p99 2.00"));
  EXPECT_THAT(JudgedAs("gap_p50<=2ms", rpc).excess.estimate,
              DoubleNear(-std::log(2), 0.01));
  EXPECT_THAT(JudgedAs("gap_p99>=4ms", rpc).excess.estimate,
              DoubleNear(-std::log(2), 0.01));
}

TEST(JudgeStreamTimeTest, ThereAreAsManyIndependentMessagesAsStreams) {
  // 10,000 independent gaps would tell that p90 is 1 ms; 40 streams do not.
  const ObjectiveOutcome few = JudgedAs("gap_p90<=2ms", StreamsWith(40));
  EXPECT_LT(few.excess.estimate, 0);
  EXPECT_FALSE(few.upper.has_value() && *few.upper <= 2e6);
  const ObjectiveOutcome many = JudgedAs("gap_p90<=2ms", StreamsWith(4000));
  ASSERT_TRUE(many.upper.has_value());
  EXPECT_LE(*many.upper, 2e6);
  EXPECT_GE(many.excess.error, 0.25);
}

TEST(JudgeStreamTimeTest, MessagesOfFailedStreamsMissEveryLimit) {
  const RpcMeasurements rpc = StreamsWith(970, /*failed=*/30);
  EXPECT_TRUE(std::isinf(JudgedAs("gap_p99<=1000s", rpc).excess.estimate));
  EXPECT_EQ(JudgedAs("first_message_p99<=1000s", rpc).measured,
            "first_message_p99 failed (3% of the messages failed)");
  EXPECT_LT(JudgedAs("gap_p50<=2ms", rpc).excess.estimate, 0);
  EXPECT_TRUE(
      std::isinf(JudgedAs("gap_p50<=1s", StreamsWith(0, 5)).excess.estimate));
}

TEST(JudgeStreamTimeTest, SaysThatNothingWasMeasured) {
  EXPECT_EQ(JudgeStreamTime(*config::ParseObjective("round_trip_p99<=1s"),
                            StreamsWith(1000))
                .status()
                .code(),
            absl::StatusCode::kNotFound);
}

TEST(CheckObjectivesOfStreams, AreVerdictsInMilliseconds) {
  TestResult result;
  DistributedSystemDescription& test = *result.mutable_traffic_config();
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("talk");
  rpc.mutable_stream();
  test.add_objectives("gap_p50<=2ms");
  test.add_objectives("first_message_p50<=1ms");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  (*log.mutable_stream_statistics())[0] = *StreamsWith(1000).streams;
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(1000);
  const std::vector<Check> checks = CheckObjectives(result);
  ASSERT_EQ(checks.size(), 2);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kPass) << checks[0].evidence;
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kFail) << checks[1].evidence;
  EXPECT_THAT(checks[1].evidence, HasSubstr("ms to "));
}

}  // namespace
}  // namespace distbench::report
