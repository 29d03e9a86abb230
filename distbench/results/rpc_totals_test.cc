// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/rpc_totals.h"

#include <cstdint>
#include <limits>
#include <string>

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

TEST(RpcTotalsTest, WireTimesAddUp) {
  RpcTotals one;
  one.counts.succeeded_count = 2;
  one.service_time_ns.RecordN(50, 2);
  one.time_parts_ns[TimePart::kWire].Record(20);
  one.counts.wire_shared_count = 1;
  RpcStatistics statistics;
  one.Encode(statistics);
  EXPECT_EQ(statistics.wire_time_ns().sum(), 20);
  EXPECT_EQ(statistics.wire_shared_count(), 1);
  ASSERT_TRUE(MergeStatistics(statistics, statistics).ok());
  EXPECT_EQ(statistics.wire_time_ns().sum(), 40);
  EXPECT_EQ(statistics.wire_shared_count(), 2);
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

}  // namespace
}  // namespace distbench::results
