#include "distbench/results/stream_totals.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::results {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

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
  ASSERT_TRUE(MergeStreamStatistics(EncodedStreams(TwoStreams()), into).ok());
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

}  // namespace
}  // namespace distbench::results
