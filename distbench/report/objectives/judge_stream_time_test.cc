#include "distbench/report/objectives/judge_stream_time.h"

#include <cmath>
#include <string>
#include <vector>

#include "distbench/report/objectives/check_objectives.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Streams of 10 gaps each. The first message takes 2 ms, and the gaps 1 ms; of
// one stream in 20, 8 ms.
RpcMeasurements StreamsWith(int streams, int failed = 0) {
  RpcMeasurements rpc;
  rpc.name = "talk";
  rpc.streams.emplace();
  rpc.streams->stream_count = streams;
  for (int i = 0; i < streams; ++i) {
    rpc.streams->first_message_ns.Record(2'000'000);
    rpc.streams->gap_ns.RecordN(i % 20 == 0 ? 8'000'000 : 1'000'000, 10);
    rpc.service_time.latency_ns.Record(12'000'000);
  }
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
  StreamsWith(1000).streams->Encode((*log.mutable_stream_statistics())[0]);
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
