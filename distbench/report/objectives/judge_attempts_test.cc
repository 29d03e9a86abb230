#include "distbench/report/objectives/judge_attempts.h"

#include <cmath>
#include <functional>
#include <string>

#include "distbench/base/time_units.h"
#include "distbench/report/objectives/check_objectives.h"
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
  rpc.attempts.emplace();
  rpc.series.interval_ns = base::kNsPerSecond;
  for (int i = 0; i < seconds; ++i) {
    IntervalTotals& totals = rpc.series.intervals[i];
    totals.sent_count = totals.succeeded_count = 100;
    totals.attempt_count = attempts(i);
    rpc.attempts->attempt_count += totals.attempt_count;
  }
  const int64_t requests = 100 * seconds;
  rpc.attempts->request_count = requests;
  rpc.attempts->succeeded_attempt_count = requests;
  rpc.attempts->failed_attempt_count = rpc.attempts->attempt_count - requests;
  rpc.attempts->attempt_time_ns.RecordN(2 * base::kNsPerMs, requests);
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

}  // namespace
}  // namespace distbench::report
