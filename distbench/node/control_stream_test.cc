// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/control_stream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

NodeMessage ProgressOf(int64_t count) {
  NodeMessage message;
  message.mutable_progress()->set_succeeded_count(count);
  return message;
}

NodeMessage PongAt(int64_t ns) {
  NodeMessage message;
  message.mutable_pong()->set_node_timestamp_ns(ns);
  return message;
}

TrafficProgress Totals(int64_t count) { return ProgressOf(count).progress(); }

NodeMessage TakeFirst(Outbox& outbox) {
  NodeMessage message = outbox.first();
  outbox.RemoveFirst();
  return message;
}

TEST(OutboxTest, ProgressReplacesProgressThatWaits) {
  Outbox outbox;
  for (int64_t count : {1, 2, 3}) outbox.Add(ProgressOf(count));
  // The first one is being sent.
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 1);
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 3);
  EXPECT_TRUE(outbox.empty());
}

TEST(OutboxTest, OtherMessagesKeepTheirPlaces) {
  Outbox outbox;
  outbox.Add(ProgressOf(1));
  outbox.Add(ProgressOf(2));
  outbox.Add(PongAt(5));
  outbox.Add(ProgressOf(3));
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 1);
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 2);
  EXPECT_EQ(TakeFirst(outbox).pong().node_timestamp_ns(), 5);
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 3);
}

TEST(OutboxTest, ProgressGoesWithTheNextPongOnly) {
  Outbox outbox;
  EXPECT_FALSE(outbox.awaits_pong());
  outbox.AddWithPong(/*test_id=*/7, Totals(1));
  EXPECT_TRUE(outbox.awaits_pong());
  EXPECT_TRUE(outbox.empty());
  outbox.Add(PongAt(5));
  outbox.Add(PongAt(6));
  EXPECT_FALSE(outbox.awaits_pong());
  const NodeMessage first = TakeFirst(outbox);
  EXPECT_EQ(first.test_id(), 7);
  EXPECT_EQ(first.pong().node_timestamp_ns(), 5);
  EXPECT_EQ(first.pong().progress().succeeded_count(), 1);
  EXPECT_FALSE(TakeFirst(outbox).pong().has_progress());
}

// As at the end of the traffic.
TEST(OutboxTest, LaterProgressReplacesWhatAwaitsAPong) {
  Outbox outbox;
  outbox.AddWithPong(7, Totals(1));
  outbox.Add(ProgressOf(2));
  outbox.Add(PongAt(5));
  EXPECT_EQ(TakeFirst(outbox).progress().succeeded_count(), 2);
  EXPECT_FALSE(TakeFirst(outbox).pong().has_progress());
}

}  // namespace
}  // namespace distbench::node
