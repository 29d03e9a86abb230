#include "distbench/results/rpc_totals.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::distbench::base::FromText;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kStatistics[] = R"(
  succeeded_count: 2
  failed_count: 3
  warmup_count: 4
  request_bytes: 500
  response_bytes: 600
  first_start_timestamp_ns: 1000
  last_end_timestamp_ns: 1900
  service_time_ns {
    sub_bucket_bits: 7
    bucket_index_deltas: 50
    bucket_index_deltas: 10
    bucket_counts: 1
    bucket_counts: 1
    min: 50
    max: 60
    sum: 110
    sum_of_squares: 6100
  }
  dropped_sample_count: 1
  failures_by_error { key: 1 value: 2 }
  failures_by_error { key: 5 value: 1 }
)";

TEST(RpcTotalsTest, EncodesWhatWasAdded) {
  const RpcStatistics statistics = FromText<RpcStatistics>(kStatistics);
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(statistics).ok());
  RpcStatistics encoded =
      FromText<RpcStatistics>("response_time_ns {}");  // to be replaced
  totals.Encode(encoded);
  EXPECT_TRUE(MessageDifferencer::Equals(encoded, statistics))
      << encoded.DebugString();
}

TEST(RpcTotalsTest, AddsUp) {
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(FromText<RpcStatistics>(kStatistics)).ok());
  RpcStatistics other = FromText<RpcStatistics>(kStatistics);
  other.set_first_start_timestamp_ns(700);
  other.set_last_end_timestamp_ns(1'800);
  (*other.mutable_failures_by_error())[7] = 9;
  ASSERT_TRUE(totals.Add(other).ok());

  EXPECT_EQ(totals.counts.succeeded_count, 4);
  EXPECT_EQ(totals.counts.failed_count, 6);
  EXPECT_EQ(totals.counts.warmup_count, 8);
  EXPECT_EQ(totals.counts.request_bytes, 1'000);
  EXPECT_EQ(totals.counts.response_bytes, 1'200);
  EXPECT_EQ(totals.counts.dropped_sample_count, 2);
  EXPECT_EQ(totals.counts.first_start_timestamp_ns, 700);
  EXPECT_EQ(totals.counts.last_end_timestamp_ns, 1'900);
  EXPECT_EQ(totals.counts.duration_ns(), 1'200);
  EXPECT_EQ(totals.service_time_ns.count(), 4);
  EXPECT_EQ(totals.response_time_ns.count(), 0);
  EXPECT_THAT(totals.failures_by_error,
              ElementsAre(Pair(1, 4), Pair(5, 2), Pair(7, 9)));
}

TEST(RpcTotalsTest, WithoutSuccessHasNoDuration) {
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(FromText<RpcStatistics>("failed_count: 3")).ok());
  EXPECT_EQ(totals.counts.duration_ns(), 0);
  RpcStatistics encoded;
  totals.Encode(encoded);
  EXPECT_FALSE(encoded.has_first_start_timestamp_ns());
  EXPECT_FALSE(encoded.has_last_end_timestamp_ns());
  EXPECT_FALSE(encoded.has_service_time_ns());
}

TEST(RpcTotalsTest, CountsStayAtTheirMaximum) {
  RpcTotals totals;
  const RpcStatistics statistics =
      FromText<RpcStatistics>("request_bytes: 9223372036854775807");
  ASSERT_TRUE(totals.Add(statistics).ok());
  ASSERT_TRUE(totals.Add(statistics).ok());
  EXPECT_EQ(totals.counts.request_bytes, std::numeric_limits<int64_t>::max());
}

TEST(RpcTotalsTest, RefusesNegativeCounts) {
  for (const char* text :
       {"succeeded_count: -7", "response_bytes: -7",
        "first_start_timestamp_ns: -7", "failures_by_error {value: -7}"}) {
    RpcTotals totals;
    const absl::Status status = totals.Add(FromText<RpcStatistics>(text));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("-7"));
  }
}

TEST(RpcTotalsTest, AddsNothingOfInvalidStatistics) {
  RpcStatistics statistics = FromText<RpcStatistics>(kStatistics);
  statistics.mutable_lateness_ns()->set_sub_bucket_bits(3);
  RpcTotals totals;
  const absl::Status status = totals.Add(statistics);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("lateness_ns: histogram has sub_bucket_bits 3"));
  EXPECT_EQ(totals.counts.succeeded_count, 0);
  EXPECT_EQ(totals.service_time_ns.count(), 0);
}

TEST(RpcTotalsTest, MomentsStandForHistogramsThatWereDropped) {
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(FromText<RpcStatistics>(kStatistics)).ok());
  const stats::LogHistogram service_time_ns = totals.service_time_ns;
  RpcTotals pooled;
  pooled.MergeHistograms(totals);
  EXPECT_EQ(pooled.service_time_ns.count(), service_time_ns.count());
  EXPECT_EQ(pooled.counts.succeeded_count, 0);
  totals.DropHistograms();
  RpcStatistics encoded;
  totals.Encode(encoded);
  EXPECT_FALSE(encoded.has_service_time_ns());
  EXPECT_FALSE(encoded.has_response_time_moments());
  EXPECT_EQ(encoded.service_time_moments().count(), 2);
  EXPECT_EQ(encoded.service_time_moments().min(), service_time_ns.min());
  EXPECT_EQ(encoded.service_time_moments().max(), service_time_ns.max());
  EXPECT_EQ(encoded.service_time_moments().sum(), service_time_ns.sum());
  EXPECT_EQ(encoded.service_time_moments().sum_of_squares(),
            service_time_ns.sum_of_squares());

  RpcTotals both;
  ASSERT_TRUE(both.Add(encoded).ok());
  ASSERT_TRUE(both.Add(encoded).ok());
  EXPECT_EQ(both.service_time_ns.count(), 0u);
  EXPECT_EQ(both.moments.service_time_ns.count, 4);
  EXPECT_EQ(both.moments.service_time_ns.min, service_time_ns.min());
  EXPECT_EQ(both.moments.service_time_ns.max, service_time_ns.max());
  EXPECT_EQ(both.moments.service_time_ns.sum, 2 * service_time_ns.sum());
}

// Statistics of one RPC: 5 ns in the server's queue, 30 ns in its handler and
// 15 ns in the network.
RpcStatistics TimedStatistics() {
  RpcTotals totals;
  totals.counts.succeeded_count = 1;
  totals.service_time_ns.Record(50);
  totals.time_parts_ns[TimePart::kServerQueue].Record(5);
  totals.time_parts_ns[TimePart::kServerHandler].Record(30);
  totals.time_parts_ns[TimePart::kNetwork].Record(15);
  RpcStatistics statistics;
  totals.Encode(statistics);
  return statistics;
}

TEST(RpcTotalsTest, TimePartsAddUp) {
  const RpcStatistics statistics = TimedStatistics();
  EXPECT_EQ(statistics.server_queue_ns().sum(), 5);
  EXPECT_EQ(statistics.server_handler_ns().sum(), 30);
  EXPECT_EQ(statistics.network_ns().sum(), 15);
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(statistics).ok());
  ASSERT_TRUE(totals.Add(statistics).ok());
  RpcTotals merged = totals;
  merged.MergeHistograms(totals);
  double sum = 0;
  for (const TimePart part : kTimeParts) {
    EXPECT_EQ(totals.time_parts_ns.at(part).count(), 2u) << NameOf(part);
    EXPECT_EQ(merged.time_parts_ns.at(part).count(), 4u) << NameOf(part);
    sum += merged.time_parts_ns.at(part).sum();
  }
  EXPECT_EQ(sum, merged.service_time_ns.sum());
  merged.DropHistograms();
  EXPECT_TRUE(merged.time_parts_ns.empty());
}

TEST(RpcTotalsTest, WithoutTimePartsThereAreNone) {
  RpcTotals totals;
  ASSERT_TRUE(totals.Add(FromText<RpcStatistics>(kStatistics)).ok());
  EXPECT_TRUE(totals.time_parts_ns.empty());
  // A histogram without values is not encoded.
  totals.time_parts_ns[TimePart::kNetwork];
  RpcStatistics encoded;
  totals.Encode(encoded);
  EXPECT_FALSE(encoded.has_network_ns());
}

TEST(RpcTotalsTest, RefusesInvalidTimeParts) {
  for (Histogram* (RpcStatistics::*field)() :
       {&RpcStatistics::mutable_server_queue_ns,
        &RpcStatistics::mutable_server_handler_ns,
        &RpcStatistics::mutable_network_ns}) {
    RpcStatistics statistics = TimedStatistics();
    (statistics.*field)()->set_sub_bucket_bits(3);
    RpcTotals totals;
    EXPECT_EQ(totals.Add(statistics).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(totals.counts.succeeded_count, 0);
  }
}

TEST(RpcTotalsTest, MemoryIncludesTimeParts) {
  RpcTotals totals;
  const int64_t before = totals.memory_bytes();
  totals.time_parts_ns[TimePart::kNetwork].Record(15);
  EXPECT_GE(totals.memory_bytes(),
            before + static_cast<int64_t>(sizeof(stats::LogHistogram)) +
                totals.time_parts_ns.at(TimePart::kNetwork).allocated_bytes());
}

TEST(RpcTotalsTest, RefusesMomentsThatContradictThemselves) {
  for (const char* text :
       {"count: -1 min: 1 max: 2", "count: 1", "min: 1 max: 2",
        "count: 2 min: 3 max: 2", "count: 1 min: -1 max: 2",
        "count: 1 min: 1 max: 1 sum: nan",
        "count: 1 min: 1 max: 1 sum_of_squares: -1"}) {
    for (const char* field : {"service_time_moments", "response_time_moments",
                              "lateness_moments"}) {
      RpcTotals totals;
      const absl::Status status = totals.Add(
          FromText<RpcStatistics>(absl::StrCat(field, " { ", text, " }")));
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    }
  }
}

// ---- Streams ----------------------------------------------------------------

StreamTotals TwoStreams() {
  StreamTotals totals;
  totals.stream_count = 2;
  totals.request_messages = 3;
  totals.response_messages = 4;
  totals.request_bytes = 500;
  totals.response_bytes = 600;
  totals.first_message_ns.RecordN(1000, 2);
  totals.gap_ns.Record(20);
  totals.round_trip_ns.Record(300);
  totals.client_blocked_ns.Record(0);
  totals.server_blocked_ns.Record(7);
  return totals;
}

StreamStatistics EncodedStreams(const StreamTotals& totals) {
  StreamStatistics statistics;
  statistics.set_stream_count(99);  // to be replaced
  totals.Encode(statistics);
  return statistics;
}

TEST(StreamTotalsTest, EncodesWhatWasAdded) {
  const StreamStatistics statistics = EncodedStreams(TwoStreams());
  StreamTotals totals;
  ASSERT_TRUE(totals.Add(statistics).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(EncodedStreams(totals), statistics))
      << EncodedStreams(totals).DebugString();
  EXPECT_FALSE(EncodedStreams(StreamTotals()).has_gap_ns());
}

TEST(StreamTotalsTest, MergingAddsUpAllFields) {
  StreamTotals merged = TwoStreams();
  merged.Merge(TwoStreams());
  EXPECT_EQ(merged.stream_count, 4);
  EXPECT_EQ(merged.request_messages, 6);
  EXPECT_EQ(merged.response_messages, 8);
  EXPECT_EQ(merged.request_bytes, 1000);
  EXPECT_EQ(merged.response_bytes, 1200);
  EXPECT_EQ(merged.first_message_ns.count(), 4);
  EXPECT_EQ(merged.gap_ns.count(), 2);
  EXPECT_EQ(merged.round_trip_ns.count(), 2);
  EXPECT_EQ(merged.client_blocked_ns.count(), 2);
  EXPECT_EQ(merged.server_blocked_ns.count(), 2);
  // Encoded statistics add up to the same.
  StreamStatistics into = EncodedStreams(TwoStreams());
  ASSERT_TRUE(MergeStatistics(EncodedStreams(TwoStreams()), into).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(into, EncodedStreams(merged)));
}

TEST(StreamTotalsTest, CountsSaturate) {
  StreamTotals most = TwoStreams();
  most.response_bytes = std::numeric_limits<int64_t>::max();
  most.Merge(TwoStreams());
  EXPECT_EQ(most.response_bytes, std::numeric_limits<int64_t>::max());
}

TEST(StreamTotalsTest, WhatIsInvalidAddsNothing) {
  StreamTotals totals = TwoStreams();
  const auto negative =
      FromText<StreamStatistics>("stream_count: 1 response_messages: -1");
  EXPECT_EQ(totals.Add(negative).code(), absl::StatusCode::kInvalidArgument);
  const auto inconsistent = FromText<StreamStatistics>(
      "stream_count: 1 gap_ns { bucket_index_deltas: 5 }");
  EXPECT_THAT(std::string(totals.Add(inconsistent).message()),
              HasSubstr("gap_ns of streams: "));
  EXPECT_TRUE(MessageDifferencer::Equals(EncodedStreams(totals),
                                         EncodedStreams(TwoStreams())));
}

// ---- Policies ---------------------------------------------------------------

// Statistics whose counts are their fields' numbers times `factor`.
PolicyStatistics NumberedPolicies(int64_t factor) {
  PolicyStatistics statistics;
  const auto* type = PolicyStatistics::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) continue;
    statistics.GetReflection()->SetInt64(&statistics, field,
                                         factor * field->number());
  }
  PolicyTotals totals;
  EXPECT_TRUE(totals.Add(statistics).ok());
  totals.quorum_time_ns.RecordN(100, factor);
  totals.attempt_time_ns.RecordN(200, factor);
  for (int64_t i = 0; i < factor; ++i) {
    totals.concurrency_limit.RecordEach(std::array{int64_t{7}},
                                        std::identity());
  }
  totals.Encode(statistics);
  return statistics;
}

// Every field of the message is added up.
TEST(PolicyTotalsTest, AddsUp) {
  PolicyStatistics into = NumberedPolicies(1);
  ASSERT_TRUE(MergeStatistics(NumberedPolicies(2), into).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(into, NumberedPolicies(3)))
      << into.DebugString();
  PolicyTotals totals;
  PolicyTotals others;
  ASSERT_TRUE(totals.Add(NumberedPolicies(1)).ok());
  ASSERT_TRUE(others.Add(NumberedPolicies(2)).ok());
  totals.Merge(others);
  PolicyStatistics encoded;
  totals.Encode(encoded);
  EXPECT_TRUE(MessageDifferencer::Equals(encoded, into));
}

TEST(PolicyTotalsTest, CountsSaturate) {
  PolicyTotals most;
  most.attempt_count = std::numeric_limits<int64_t>::max();
  most.Merge(most);
  EXPECT_EQ(most.attempt_count, std::numeric_limits<int64_t>::max());
}

TEST(PolicyTotalsTest, WhatIsInvalidAddsNothing) {
  for (const auto& [text, error] :
       {std::pair("request_count: 1 retry_count: -1", "a negative count"),
        std::pair("attempt_time_ns { bucket_index_deltas: 5 }",
                  "attempt_time_ns of policies: "),
        std::pair("concurrency_limit { count: 1 min: 3 max: 2 }",
                  "contradict themselves")}) {
    PolicyStatistics into = NumberedPolicies(1);
    const absl::Status status =
        MergeStatistics(FromText<PolicyStatistics>(text), into);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(error));
    EXPECT_TRUE(MessageDifferencer::Equals(into, NumberedPolicies(1)));
  }
}

}  // namespace
}  // namespace distbench::results
