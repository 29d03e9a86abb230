// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/measure.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"
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

absl::StatusOr<Estimate> TryMeasure(const std::string& name,
                                    const RpcMeasurements& rpc) {
  return Measure(*stats::ParseMetric(name), rpc, rpc.latency_kind());
}

Estimate Measured(const std::string& name, const RpcMeasurements& rpc) {
  const absl::StatusOr<Estimate> estimate = TryMeasure(name, rpc);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return estimate.value_or(Estimate());
}

std::string TextOf(const std::string& name, const RpcMeasurements& rpc) {
  return EstimateText(*stats::ParseMetric(name), Measured(name, rpc));
}

TEST(MeasureAttemptsTest, AmplificationIsAttemptsPerRequest) {
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return 150 + 2 * (i % 3); });
  const Estimate estimate = Measured("amplification", rpc);
  EXPECT_THAT(estimate.value, DoubleNear(1.52, 0.01));
  EXPECT_THAT(TextOf("amplification", rpc), StartsWith("amplification 1.5"));
  EXPECT_GT(*estimate.lower, 1.45);
  EXPECT_LT(*estimate.upper, 1.6);
}

TEST(MeasureAttemptsTest, AStormMakesTheAmplificationUncertain) {
  // The same attempts, but half of the time twice as many.
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return i < 10 ? 100 : 200; });
  const Estimate estimate = Measured("amplification", rpc);
  EXPECT_LT(estimate.value, 1.6);
  EXPECT_GT(*estimate.upper, 1.6);
}

TEST(MeasureAttemptsTest, FewRequestsProveLittle) {
  const RpcMeasurements one = Retrying(1, [](int) { return 100; });
  EXPECT_GT(*Measured("amplification", one).upper, 1.01);
  EXPECT_LT(*Measured("amplification", one).upper, 1.2);
  EXPECT_GT(*Measured("wasted", one).upper, 0.01);
  const RpcMeasurements long_run = Retrying(100, [](int) { return 100; });
  EXPECT_LT(*Measured("wasted", long_run).upper, 0.01);
}

TEST(MeasureAttemptsTest, WastedIsAShareOfTheAttempts) {
  const RpcMeasurements rpc =
      Retrying(20, [](int i) { return 198 + 2 * (i % 3); });
  const Estimate estimate = Measured("wasted", rpc);
  EXPECT_THAT(estimate.value, DoubleNear(0.5, 0.01));
  EXPECT_THAT(TextOf("wasted", rpc), StartsWith("wasted 49.97 %"));
  EXPECT_GT(*estimate.lower, 0.45);
}

TEST(MeasureAttemptsTest, GoodputIsPerSecondOfTheMeasuredTime) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.attempts.reset();  // it needs no policy
  EXPECT_THAT(Measured("goodput", rpc).value, DoubleNear(100, 1));
  rpc.measured_ns *= 4;
  EXPECT_THAT(Measured("goodput", rpc).value, DoubleNear(25, 0.25));
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
  rpc.totals.counts.first_start_timestamp_ns = base::kNsPerSecond;
  rpc.totals.counts.last_end_timestamp_ns =
      base::kNsPerSecond + rpc.measured_ns;
  return rpc;
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

TEST(MeasureRateTest, APlanThatVariesIsNoError) {
  const auto few = [](int64_t i) { return i % 3; };
  const auto cycle = [](int i) { return 1 + 0.5 * std::sin(M_PI * i / 10); };
  const auto bursts = [](int i) { return i % 10 < 2 ? 5. : 0.; };
  for (const std::vector<int64_t>& offered :
       {Arrivals(60, cycle), Arrivals(60, bursts)}) {
    const RpcMeasurements rpc = OpenLoop(offered, few);
    const Estimate rate = Measured("rate", rpc);
    EXPECT_GT(*rate.lower, 900);
    EXPECT_LT(*rate.upper, 1100);
    EXPECT_GT(*Measured("goodput", rpc).lower, 900);
  }
}

TEST(MeasureRateTest, AnOpenLoopThatStallsIsUncertain) {
  const std::vector<int64_t> offered(60, 1000);
  const RpcMeasurements rpc =
      OpenLoop(offered, [](int64_t i) { return i >= 30 && i < 33 ? 1000 : 0; });
  EXPECT_LT(*Measured("rate", rpc).lower, 900);
}

// What is outside of the whole seconds says nothing about them.
TEST(MeasureRateTest, SecondsWithoutAnySuccessAreNotCertain) {
  const RpcMeasurements rpc =
      OpenLoop(std::vector<int64_t>(20, 1000),
               [](int64_t i) { return i == 0 ? 0 : 1000; });
  const Estimate estimate = Measured("rate", rpc);
  EXPECT_LT(*estimate.lower, 49);
  EXPECT_GT(*estimate.upper, 51);
}

TEST(MeasureMeanTest, FewRequestsProveLittle) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.series.intervals.clear();
  rpc.service_time = {};
  rpc.service_time.latency_ns.Record(300'000);
  const Estimate of_one = Measured("mean", rpc);
  EXPECT_EQ(of_one.value, 300'000);
  EXPECT_FALSE(of_one.lower.has_value());
  EXPECT_FALSE(of_one.upper.has_value());
  // Their mean is 400 us, its standard error 100 us. Student's t is 12.7, with
  // one degree of freedom.
  rpc.service_time.latency_ns.Record(500'000);
  EXPECT_THAT(*Measured("mean", rpc).upper,
              DoubleNear(400'000 * std::exp(12.7 / 4), 50'000));
}

// Its 32 us are no time in which there could have been others.
TEST(MeasureRateTest, OneRequestProvesNoRate) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.series.intervals.clear();
  rpc.series.intervals[3].sent = rpc.series.intervals[3].succeeded = 1;
  rpc.service_time = {};
  rpc.service_time.latency_ns.Record(31'813);
  rpc.totals.counts.succeeded_count = 1;
  rpc.totals.counts.first_start_timestamp_ns = 3 * base::kNsPerSecond;
  rpc.totals.counts.last_end_timestamp_ns = 3 * base::kNsPerSecond + 31'813;
  rpc.measured_ns = 31'813;
  for (const char* name : {"rate", "goodput"}) {
    const Estimate estimate = Measured(name, rpc);
    EXPECT_FALSE(estimate.lower.has_value()) << name;
    EXPECT_FALSE(estimate.upper.has_value()) << name;
  }
  // Those that failed tell how long goodput was measured.
  rpc.service_time.failed_count = 99;
  rpc.measured_ns = 4 * base::kNsPerSecond;
  ASSERT_TRUE(Measured("goodput", rpc).upper.has_value());
  EXPECT_LT(*Measured("goodput", rpc).upper, 10);
}

// As of a run that is no longer than its warm-up.
TEST(MeasureRateTest, NothingMeasuredIsNoRateOfZero) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.series = {};
  rpc.service_time = {};
  rpc.totals = {};
  EXPECT_THAT(TryMeasure("rate", rpc).status().message(),
              HasSubstr("no RPC \"query\" ended in the measured time"));
  // That everything failed was measured.
  rpc.service_time.failed_count = 100;
  EXPECT_EQ(Measured("rate", rpc).value, 0);
}

TEST(MeasureAttemptsTest, LateAnswersAreNoGoodput) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  rpc.response_time.latency_ns.RecordN(3 * base::kNsPerMs, 500);
  rpc.response_time.latency_ns.RecordN(900 * base::kNsPerMs, 1500);
  EXPECT_EQ(TextOf("goodput", rpc), "goodput 100/s");
  rpc.deadline_ns = 50 * base::kNsPerMs;
  EXPECT_EQ(TextOf("goodput", rpc), "goodput 25/s");
}

TEST(MeasureAttemptsTest, FailedAttemptsMissEveryLimit) {
  const RpcMeasurements rpc = Retrying(20, [](int) { return 110; });
  EXPECT_LT(Measured("attempt_p50", rpc).value, 4e6);
  EXPECT_TRUE(std::isinf(Measured("attempt_p99", rpc).value));
  EXPECT_THAT(TextOf("attempt_p99", rpc), HasSubstr("of the attempts failed"));
}

TEST(MeasureAttemptsTest, SaysWhatIsNotMeasured) {
  RpcMeasurements rpc = Retrying(20, [](int) { return 100; });
  EXPECT_EQ(TryMeasure("quorum_p99", rpc).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(TryMeasure("cpu", rpc).status().code(),
            absl::StatusCode::kNotFound);
  rpc.attempts.reset();
  for (const char* name : {"amplification", "wasted"}) {
    EXPECT_THAT(TryMeasure(name, rpc).status().message(),
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

TEST(MeasureMessagesTest, MeasuresTheTimeThatTheMetricIsAbout) {
  const RpcMeasurements rpc = StreamsWith(1000);
  EXPECT_THAT(Measured("first_message_p99", rpc).value, DoubleNear(2e6, 2e4));
  EXPECT_THAT(TextOf("first_message_p99", rpc),
              StartsWith("first_message_p99 2.00"));
  EXPECT_THAT(Measured("gap_p50", rpc).value, DoubleNear(1e6, 1e4));
  EXPECT_THAT(Measured("gap_p99", rpc).value, DoubleNear(8e6, 8e4));
}

TEST(MeasureMessagesTest, ThereAreAsManyIndependentMessagesAsStreams) {
  // 10,000 independent gaps would tell that p90 is 1 ms; 40 streams do not.
  const Estimate few = Measured("gap_p90", StreamsWith(40));
  EXPECT_LT(few.value, 2e6);
  EXPECT_FALSE(few.upper.has_value() && *few.upper <= 2e6);
  const Estimate many = Measured("gap_p90", StreamsWith(4000));
  ASSERT_TRUE(many.upper.has_value());
  EXPECT_LE(*many.upper, 2e6);
  EXPECT_GE(many.log_error, 0.25);
}

TEST(MeasureMessagesTest, MessagesOfFailedStreamsMissEveryLimit) {
  const RpcMeasurements rpc = StreamsWith(970, /*failed=*/30);
  EXPECT_TRUE(std::isinf(Measured("gap_p99", rpc).value));
  EXPECT_EQ(TextOf("first_message_p99", rpc),
            "first_message_p99 failed (3 % of the messages failed)");
  EXPECT_LT(Measured("gap_p50", rpc).value, 2e6);
  EXPECT_TRUE(std::isinf(Measured("gap_p50", StreamsWith(0, 5)).value));
}

// One long stream that stalls has many more messages than it answered.
TEST(MeasureMessagesTest, UnansweredMessagesMissEveryLimit) {
  RpcMeasurements rpc;
  rpc.name = "talk";
  results::TallyOf<StreamStatistics> tally;
  tally.histogram(StreamStatistics::kRoundTripNsFieldNumber)
      .RecordN(1'000'000, 100);
  tally.count(StreamStatistics::kUnansweredMessagesFieldNumber) = 300;
  tally.Encode(rpc.streams.emplace());
  rpc.service_time.failed_count = 1;
  EXPECT_LT(Measured("round_trip_p20", rpc).value, 2e6);
  EXPECT_TRUE(std::isinf(Measured("round_trip_p50", rpc).value));
  EXPECT_EQ(TextOf("round_trip_p50", rpc),
            "round_trip_p50 failed (75 % of the messages failed)");
}

TEST(MeasureMessagesTest, SaysThatNothingWasMeasured) {
  EXPECT_EQ(TryMeasure("round_trip_p99", StreamsWith(1000)).status().code(),
            absl::StatusCode::kNotFound);
}

// The share of failures differs from second to second, by half of its mean, and
// there are four seconds.
TEST(MeasureTest, IntervalsOfFailuresContainTheTruthAsOftenAsTheySay) {
  constexpr int kRounds = 600;
  constexpr int64_t kRpcs = 5000;
  constexpr double kFailures = 50;
  std::mt19937_64 random(1);
  std::gamma_distribution<double> varied(4, kFailures / 4);
  int contained = 0;
  for (int round = 0; round < kRounds; ++round) {
    RpcMeasurements rpc;
    for (int second = 0; second < 4; ++second) {
      IntervalTotals& totals = rpc.series.intervals[second];
      totals.failed = std::poisson_distribution<int>(varied(random))(random);
      totals.service_time_ns.RecordN(1000, kRpcs - totals.failed);
      rpc.service_time.Merge(
          {totals.service_time_ns, static_cast<uint64_t>(totals.failed)});
    }
    const Estimate estimate = Measured("failures", rpc);
    const double truth = kFailures / kRpcs;
    contained += *estimate.lower <= truth && truth <= *estimate.upper;
  }
  EXPECT_GE(contained, 0.92 * kRounds);
}

std::vector<stats::Outcomes> Blocks(const std::vector<int64_t>& latencies_ns) {
  std::vector<stats::Outcomes> blocks(latencies_ns.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].latency_ns.RecordN(latencies_ns[i], 100);
  }
  return blocks;
}

TEST(HasGrownTest, KnowsAQueueThatOnlyGrows) {
  EXPECT_TRUE(HasGrown(Blocks({1000, 2000, 3000, 4000, 5000, 6000, 7000})));
  EXPECT_TRUE(HasGrown(Blocks({100, 110, 500, 510})));
}

TEST(HasGrownTest, IgnoresWhatShrinksOrStays) {
  EXPECT_FALSE(HasGrown(Blocks({7000, 6000, 5000, 4000, 3000, 2000, 1000})));
  EXPECT_FALSE(HasGrown(Blocks({100, 100, 100, 100})));
  // A burst at the end.
  EXPECT_FALSE(HasGrown(Blocks({100, 110, 90, 100, 110, 900})));
}

TEST(HasGrownTest, NeedsFourBlocksWithLatencies) {
  EXPECT_FALSE(HasGrown({}));
  EXPECT_FALSE(HasGrown(Blocks({100, 500, 510})));
  std::vector<stats::Outcomes> blocks = Blocks({100, 110, 500, 510});
  blocks[1] = {.failed_count = 100};
  EXPECT_FALSE(HasGrown(blocks));
}

// However few blocks there are.
TEST(HasGrownTest, SeldomMistakesChanceForGrowth) {
  constexpr int kRuns = 2000;
  std::mt19937_64 random(1);
  std::exponential_distribution<> latency_ns(1e-6);
  int grown = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<int64_t> values(run % 2 == 0 ? 4 : 10);
    for (int64_t& value : values) {
      value = 0;
      for (int i = 0; i < 10; ++i) value += latency_ns(random) / 10;
    }
    grown += HasGrown(Blocks(values));
  }
  EXPECT_LT(grown, kRuns * 0.01);
}

}  // namespace
}  // namespace distbench::report
