// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/summary_logs.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int kPairs = 50;
constexpr int kValues = 300;  // of a pair
constexpr int kSeconds = 256;

// What client/N measured of an RPC to each of some servers, in pieces.
class SummaryLogsTest : public testing::Test {
 protected:
  static void AddInstance(int number, SummaryLogs& logs) {
    ResultChunk chunk;
    chunk.set_instance(absl::StrCat("client/", number));
    for (int i = 0; i < kPairs; ++i) {
      chunk.set_peer(absl::StrCat("server/", i));
      chunk.set_rpc_index(0);
      chunk.mutable_rpc_log()->add_successful_rpc_samples();
      Statistics(i).Encode(*chunk.mutable_rpc_log()->mutable_statistics());
      ASSERT_TRUE(logs.Merge(chunk).ok());
    }
    chunk.clear_rpc_log();
    ServicePerformanceLog& log = *chunk.mutable_instance_log();
    log.mutable_error_dictionary()->add_error_message("");
    log.mutable_error_dictionary()->add_error_message("refused");
    RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
    series.set_interval_ns(1'000'000'000);
    for (int second = 0; second < kSeconds; ++second) {
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(second);
      interval.set_succeeded_count(1);
    }
    ASSERT_TRUE(logs.Merge(chunk).ok());
  }

  static results::RpcTotals Statistics(int pair) {
    results::RpcTotals statistics;
    statistics.counts.succeeded_count = kValues;
    statistics.counts.failed_count = 1;
    statistics.counts.first_start_timestamp_ns = 1'000 - pair;
    statistics.counts.last_end_timestamp_ns = 2'000 + pair;
    statistics.failures_by_error[1] = 1;
    for (int64_t i = 1; i <= kValues; ++i) {
      statistics.service_time_ns.Record(i * i * (1 + pair));
    }
    return statistics;
  }

  static TestResult ResultOf(SummaryLogs& logs) {
    TestResult result;
    result.mutable_traffic_config()->add_rpc_descriptions()->set_name("rpc");
    *result.mutable_service_logs() = logs.Take();
    return result;
  }

  static int64_t SecondsIn(const RpcTimeSeries& series) {
    int64_t count = 0;
    for (const RpcInterval& interval : series.intervals()) {
      count += interval.succeeded_count();
    }
    return count;
  }
};

TEST_F(SummaryLogsTest, KeepAllButSamplesWhereThereIsRoom) {
  SummaryLogs logs(100 << 20);
  AddInstance(0, logs);
  EXPECT_FALSE(logs.is_brief());
  const TestResult result = ResultOf(logs);
  const ServicePerformanceLog& log =
      result.service_logs().instance_logs().at("client/0");
  EXPECT_EQ(log.peer_logs().size(), kPairs);
  const RpcPerformanceLog& pair =
      log.peer_logs().at("server/0").rpc_logs().at(0);
  EXPECT_TRUE(pair.statistics().has_service_time_ns());
  EXPECT_TRUE(pair.successful_rpc_samples().empty());
  EXPECT_EQ(log.rpc_time_series().at(0).intervals_size(), kSeconds);
}

TEST_F(SummaryLogsTest, TotalsAreTheSameWithinAnyLimit) {
  SummaryLogs all(100 << 20);
  for (int i = 0; i < 4; ++i) AddInstance(i, all);
  const TestResult expected_result = ResultOf(all);
  const report::TestTotals expected = report::AddUp(expected_result);
  const auto expected_bytes =
      static_cast<int64_t>(expected_result.service_logs().SpaceUsedLong());
  for (const int64_t divisor : {2, 4, 8, 16, 32, 1'000'000}) {
    const int64_t limit = expected_bytes / divisor;
    SummaryLogs logs(limit);
    for (int i = 0; i < 4; ++i) AddInstance(i, logs);
    EXPECT_TRUE(logs.is_brief()) << divisor;
    const TestResult result = ResultOf(logs);
    const report::TestTotals totals = report::AddUp(result);
    EXPECT_EQ(totals.all.succeeded_count, 4 * kPairs * kValues);
    EXPECT_EQ(totals.duration_ns, expected.duration_ns) << divisor;
    EXPECT_THAT(totals.failures.at("rpc"),
                ElementsAre(Pair("refused", 4 * kPairs)));
    const stats::LogHistogram& times = totals.rpcs.at("rpc").service_time_ns;
    EXPECT_EQ(times.count(), uint64_t{4 * kPairs * kValues}) << divisor;
    EXPECT_EQ(times.ValueAtQuantile(0.99),
              expected.rpcs.at("rpc").service_time_ns.ValueAtQuantile(0.99));
    for (const auto& [name, log] : result.service_logs().instance_logs()) {
      EXPECT_EQ(SecondsIn(log.rpc_time_series().at(0)), kSeconds) << divisor;
    }
    if (divisor <= 4) {
      EXPECT_LE(result.service_logs().SpaceUsedLong(), limit) << divisor;
    }
  }
}

TEST_F(SummaryLogsTest, WrongPiecesAreErrors) {
  SummaryLogs logs(1);
  EXPECT_FALSE(logs.Merge(ResultChunk()).ok());
}

}  // namespace
}  // namespace distbench::sequencer
