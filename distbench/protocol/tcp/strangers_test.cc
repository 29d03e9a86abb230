// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/strangers.h"

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

struct Item final : StrangerItem {};

TEST(StrangersTest, TheQuietestIsFirst) {
  Item first, second, third;
  Strangers<Item> strangers({.connections = 3, .silence_ns = 100});
  EXPECT_EQ(strangers.Quietest(), nullptr);
  EXPECT_EQ(strangers.next_due_ns(), Strangers<Item>::kNever);
  strangers.Add(first, 1);
  strangers.Add(second, 2);
  EXPECT_FALSE(strangers.is_full());
  strangers.Add(third, 3);
  EXPECT_TRUE(strangers.is_full());
  EXPECT_EQ(strangers.Quietest(), &first);
  EXPECT_EQ(strangers.next_due_ns(), 101);
  strangers.NoteHeard(first, 4);
  EXPECT_EQ(strangers.Quietest(), &second);
  EXPECT_EQ(strangers.next_due_ns(), 102);
  strangers.NoteHeard(third, 5);
  strangers.Remove(second);
  EXPECT_EQ(strangers.Quietest(), &first);
  EXPECT_EQ(strangers.next_due_ns(), 104);
}

TEST(StrangersTest, WhoHasLeftMayLeaveAgainAndComeBack) {
  Item item;
  Strangers<Item> strangers({.connections = 1, .silence_ns = 100});
  strangers.Remove(item);
  strangers.Add(item, 1);
  strangers.Remove(item);
  strangers.Remove(item);
  strangers.NoteHeard(item, 1);
  EXPECT_EQ(strangers.Quietest(), nullptr);
  EXPECT_FALSE(strangers.is_full());
  EXPECT_EQ(strangers.next_due_ns(), Strangers<Item>::kNever);
  strangers.Add(item, 2);
  EXPECT_TRUE(strangers.is_full());
  EXPECT_EQ(strangers.Quietest(), &item);
}

}  // namespace
}  // namespace distbench::protocol
