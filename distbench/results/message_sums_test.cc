// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/message_sums.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/results/histogram_proto.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::distbench::base::FromText;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

constexpr CounterTexts kTexts = {.negative_count = "a count of $0",
                                 .bad_histogram = "$0 is bad: $1"};

TEST(MessageSumsTest, SumsHaveTheCountersOfEither) {
  HostCounters sum;
  sum.set_user_cpu_ns(1);
  sum.set_steal_cpu_ns(10);
  HostCounters more;
  more.set_user_cpu_ns(2);
  more.set_throttled_ns(5);
  AddCounters(more, sum);
  EXPECT_EQ(sum.user_cpu_ns(), 3);
  EXPECT_EQ(sum.steal_cpu_ns(), 10);
  EXPECT_EQ(sum.throttled_ns(), 5);
  EXPECT_FALSE(sum.has_idle_cpu_ns());
}

TEST(MessageSumsTest, SumsDoNotOverflow) {
  HostCounters sum;
  sum.set_user_cpu_ns(std::numeric_limits<int64_t>::max());
  AddCounters(HostCounters(sum), sum);
  EXPECT_EQ(sum.user_cpu_ns(), std::numeric_limits<int64_t>::max());
}

TEST(MessageSumsTest, DifferencesAreOfCountersThatBothReadingsHave) {
  HostCounters start;
  start.set_user_cpu_ns(4);
  start.set_idle_cpu_ns(9);
  start.set_io_pressure_ns(7);
  HostCounters counted;
  counted.set_user_cpu_ns(6);
  counted.set_idle_cpu_ns(8);
  counted.set_throttled_ns(100);
  SubtractCounters(start, counted);
  EXPECT_EQ(counted.user_cpu_ns(), 2);
  EXPECT_EQ(counted.idle_cpu_ns(), 0) << "it went backwards";
  EXPECT_FALSE(counted.has_throttled_ns());
  EXPECT_FALSE(counted.has_io_pressure_ns());
}

// One field of each kind, and one that is none of them.
constexpr char kOneOfEach[] = R"(
  succeeded_count: 1
  service_time_ns {
    sub_bucket_bits: 7 bucket_index_deltas: 5 bucket_counts: 1
    min: 5 max: 5 sum: 5 sum_of_squares: 25
  }
  service_time_moments { count: 1 min: 3 max: 4 sum: 7 sum_of_squares: 25 }
  failures_by_error { key: 1 value: 2 })";

TEST(MessageSumsTest, DistributionsAddUp) {
  auto sum = FromText<RpcStatistics>(kOneOfEach);
  ASSERT_TRUE(MergeCounters(RpcStatistics(sum), kTexts, sum).ok());
  const auto expected = FromText<RpcStatistics>(R"(
    succeeded_count: 2
    service_time_ns {
      sub_bucket_bits: 7 bucket_index_deltas: 5 bucket_counts: 2
      min: 5 max: 5 sum: 10 sum_of_squares: 50
    }
    service_time_moments { count: 2 min: 3 max: 4 sum: 14 sum_of_squares: 50 }
    failures_by_error { key: 1 value: 2 })");
  EXPECT_TRUE(MessageDifferencer::Equals(sum, expected)) << sum.DebugString();
  RpcStatistics copy;
  AddCounters(expected, copy);
  EXPECT_EQ(copy.service_time_ns().sum(), 10);
  EXPECT_EQ(copy.service_time_moments().sum(), 14);
  EXPECT_FALSE(copy.has_response_time_ns());
  EXPECT_TRUE(copy.failures_by_error().empty()) << "they are the caller's";
}

TEST(MessageSumsTest, AmountsAddUp) {
  auto sum = FromText<RUsage>("user_cpu_time_seconds: 0.5 swaps: 1");
  AddCounters(RUsage(sum), sum);
  EXPECT_EQ(sum.user_cpu_time_seconds(), 1);
  SubtractCounters(FromText<RUsage>("user_cpu_time_seconds: 0.25"), sum);
  EXPECT_EQ(sum.user_cpu_time_seconds(), 0.75);
  EXPECT_FALSE(sum.has_swaps());
  sum.set_swaps(3);
  SubtractCounters(RUsage(), sum, {}, WithoutStart::kCountedFromZero);
  EXPECT_EQ(sum.user_cpu_time_seconds(), 0.75);
  EXPECT_EQ(sum.swaps(), 3);
}

TEST(MessageSumsTest, LevelsAreThoseOfTheLater) {
  const int levels[] = {RUsage::kMaxResidentSetSizeFieldNumber};
  auto sum = FromText<RUsage>("max_resident_set_size: 5 swaps: 1");
  const auto later = FromText<RUsage>("max_resident_set_size: 4 swaps: 1");
  AddCounters(later, sum, levels);
  EXPECT_EQ(sum.max_resident_set_size(), 4);
  EXPECT_EQ(sum.swaps(), 2);
  SubtractCounters(later, sum, levels);
  EXPECT_EQ(sum.max_resident_set_size(), 4);
  EXPECT_EQ(sum.swaps(), 1);
}

TEST(MessageSumsTest, WhatIsInvalidIsNotAdded) {
  const auto before = FromText<RpcStatistics>(kOneOfEach);
  EXPECT_TRUE(ValidateCounters(before, kTexts).ok());
  for (const auto& [text, error] :
       {std::pair("failed_count: -2 warmup_count: -3", "a count of -3"),
        std::pair("network_ns {}",
                  "network_ns is bad: histogram has sub_bucket_bits 0; this "
                  "version of distbench reads 7"),
        std::pair("lateness_moments { count: 1 }",
                  "moments of 1 values with a min of 0, a max of 0, a sum of 0 "
                  "and a sum of squares of 0 contradict themselves")}) {
    auto damaged = FromText<RpcStatistics>(text);
    RpcStatistics into = before;
    EXPECT_EQ(MergeCounters(damaged, kTexts, into),
              absl::InvalidArgumentError(error));
    EXPECT_TRUE(MessageDifferencer::Equals(into, before));
    EXPECT_EQ(MergeCounters(before, kTexts, damaged),
              absl::InvalidArgumentError(error));
  }
}

// ---- Tallies ----------------------------------------------------------------

// Statistics whose counts are their fields' numbers times `factor`, and whose
// distributions have `factor` values.
PolicyStatistics Numbered(int64_t factor) {
  const auto* type = PolicyStatistics::descriptor();
  TallyOf<PolicyStatistics> tally;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const int number = field->number();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      tally.count(number) = factor * number;
    } else if (field->message_type() == Histogram::descriptor()) {
      tally.histogram(number).RecordN(100 * number, factor);
    }
  }
  for (int64_t i = 0; i < factor; ++i) {
    tally.moments(PolicyStatistics::kConcurrencyLimitFieldNumber)
        .RecordEach(std::array{int64_t{7}}, std::identity());
  }
  PolicyStatistics statistics;
  statistics.set_retry_count(99);  // to be replaced
  tally.Encode(statistics);
  return statistics;
}

TEST(TallyTest, EncodesWhatWasRecorded) {
  const PolicyStatistics statistics = Numbered(2);
  EXPECT_EQ(statistics.request_count(),
            2 * PolicyStatistics::kRequestCountFieldNumber);
  EXPECT_EQ(statistics.retry_count(),
            2 * PolicyStatistics::kRetryCountFieldNumber);
  EXPECT_EQ(HistogramOf(statistics.attempt_time_ns()).count(), 2u);
  EXPECT_EQ(statistics.attempt_time_ns().max(),
            100 * PolicyStatistics::kAttemptTimeNsFieldNumber);
  EXPECT_EQ(MomentsOf(statistics.concurrency_limit()).count, 2);
  EXPECT_EQ(statistics.concurrency_limit().min(), 7);
}

// Every field of the message is added up.
TEST(TallyTest, AddsUp) {
  TallyOf<PolicyStatistics> tally;
  ASSERT_TRUE(tally.Add(Numbered(1)).ok());
  ASSERT_TRUE(tally.Add(Numbered(2)).ok());
  PolicyStatistics sum;
  tally.Encode(sum);
  EXPECT_TRUE(MessageDifferencer::Equals(sum, Numbered(3)))
      << sum.DebugString();
  // Messages add up to the same.
  PolicyStatistics into = Numbered(1);
  ASSERT_TRUE(MergeCounters(Numbered(2), kTexts, into).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(into, sum)) << into.DebugString();
}

TEST(TallyTest, WithoutValuesThereIsNoDistribution) {
  TallyOf<StreamStatistics> tally;
  tally.histogram(StreamStatistics::kGapNsFieldNumber);
  StreamStatistics statistics;
  tally.Encode(statistics);
  EXPECT_FALSE(statistics.has_gap_ns());
  EXPECT_FALSE(statistics.has_round_trip_ns());
  EXPECT_TRUE(statistics.has_stream_count()) << "although it is 0";
}

// What makes the sum invalid, or is so itself, adds nothing.
TEST(TallyTest, LeavesOutWhatDoesNotFit) {
  struct Case {
    const char* text;
    const char* problem;
  };
  for (const Case& each :
       {Case{"retry_count: -7", "statistics hold -7"},
        Case{"concurrency_limit { count: -1 }", "contradict"},
        Case{"concurrency_limit { count: 1 min: 7 max: 7 sum: 1.7e308 "
             "                    sum_of_squares: 49 }",
             "concurrency_limit cannot be added to the others: a sum of"},
        Case{"attempt_time_ns { sub_bucket_bits: 7 bucket_index_deltas: 7 "
             "  bucket_counts: 9223372036854775807 min: 7 max: 7 }",
             "attempt_time_ns cannot be added to the others: histogram counts "
             "more than 2^63 values"},
        Case{"attempt_time_ns { sub_bucket_bits: 7 bucket_index_deltas: 7 "
             "  bucket_counts: 1 min: 7 max: 7 sum_of_squares: 1.7e308 }",
             "attempt_time_ns cannot be added to the others: a sum of"}}) {
    PolicyStatistics first = Numbered(1);
    first.mutable_concurrency_limit()->set_sum(1e308);
    first.mutable_attempt_time_ns()->set_sum_of_squares(1e308);
    TallyOf<PolicyStatistics> tally;
    ASSERT_TRUE(tally.Add(first).ok());
    auto other = FromText<PolicyStatistics>(each.text);
    other.set_request_count(other.request_count() + 1);
    const absl::Status added = tally.Add(other);
    EXPECT_EQ(added.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(added.message()), HasSubstr(each.problem));
    PolicyStatistics sum;
    tally.Encode(sum);
    EXPECT_TRUE(MessageDifferencer::Equals(sum, first)) << each.text;
  }
}

TrafficProgress Progress(int64_t count) {
  TrafficProgress progress;
  progress.set_succeeded_count(count);
  progress.set_failed_count(count);
  progress.set_in_flight_count(count);
  progress.set_offered_count(count);
  progress.set_open_loop_ended_count(count);
  progress.set_traffic_time_ns(count);
  return progress;
}

TEST(ProgressTest, AddsUp) {
  TrafficProgress sum = Progress(1);
  TrafficProgress more = Progress(2);
  more.mutable_recent_service_time_ns();
  AddProgress(more, sum);
  TrafficProgress expected = Progress(3);
  expected.set_traffic_time_ns(2);  // the longest
  EXPECT_TRUE(MessageDifferencer::Equals(sum, expected)) << sum.DebugString();

  AddProgress(Progress(1), sum);
  EXPECT_EQ(sum.traffic_time_ns(), 2);
  AddProgress(TrafficProgress(), sum);
  EXPECT_EQ(sum.traffic_time_ns(), 2);
}

// Nodes may report any numbers.
TEST(ProgressTest, SumsAreNumbersWhateverIsAdded) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  TrafficProgress sum = Progress(kMost);
  AddProgress(Progress(10), sum);
  EXPECT_TRUE(MessageDifferencer::Equals(sum, Progress(kMost)))
      << sum.DebugString();
}

TEST(TallyTest, SumsSaturate) {
  StreamStatistics most;
  most.set_response_bytes(std::numeric_limits<int64_t>::max());
  TallyOf<StreamStatistics> tally;
  ASSERT_TRUE(tally.Add(most).ok());
  ASSERT_TRUE(tally.Add(most).ok());
  tally.Encode(most);
  EXPECT_EQ(most.response_bytes(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace distbench::results
