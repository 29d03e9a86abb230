// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/call_table.h"

#include <string>
#include <vector>

#include "distbench/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Owner : CallOwner {};
using Table = CallTable<Owner>;

TEST(CallTableTest, FindsACallUntilItIsRemoved) {
  Table table;
  Owner owner;
  ClientCall call;
  const uint64_t id = table.Add(&call, &owner);
  EXPECT_EQ(table.size(), 1);
  Table::Entry* entry;
  ASSERT_EQ(table.Find(id, entry), Table::Match::kFound);
  EXPECT_EQ(entry->call, &call);
  EXPECT_EQ(entry->owner, &owner);
  table.Remove(*entry);
  EXPECT_EQ(table.Find(id, entry), Table::Match::kEnded);
  EXPECT_EQ(table.size(), 0);
}

TEST(CallTableTest, APositionThatIsUsedAgainHasAnotherId) {
  Table table;
  Owner owner;
  ClientCall calls[2];
  const uint64_t first = table.Add(&calls[0], &owner);
  Table::Entry* entry;
  ASSERT_EQ(table.Find(first, entry), Table::Match::kFound);
  table.Remove(*entry);
  const uint64_t second = table.Add(&calls[1], &owner);
  EXPECT_EQ(static_cast<uint32_t>(first), static_cast<uint32_t>(second));
  EXPECT_EQ(table.Find(first, entry), Table::Match::kEnded);
  ASSERT_EQ(table.Find(second, entry), Table::Match::kFound);
  EXPECT_EQ(entry->call, &calls[1]);
}

TEST(CallTableTest, IdsThatNeverWereAreUnknown) {
  Table table;
  Owner owner;
  ClientCall call;
  const uint64_t id = table.Add(&call, &owner);
  Table::Entry* entry;
  EXPECT_EQ(table.Find(id + 1, entry), Table::Match::kUnknown);
  EXPECT_EQ(table.Find(id + (uint64_t{1} << 32), entry),
            Table::Match::kUnknown);
  EXPECT_EQ(table.Find(~uint64_t{0}, entry), Table::Match::kUnknown);
}

TEST(CallTableTest, OwnersKnowHowManyCallsTheyHave) {
  Table table;
  Owner owners[2];
  ClientCall calls[3];
  table.Add(&calls[0], &owners[0]);
  const uint64_t id = table.Add(&calls[1], &owners[1]);
  table.Add(&calls[2], &owners[1]);
  Table::Entry* entry;
  ASSERT_EQ(table.Find(id, entry), Table::Match::kFound);
  table.Remove(*entry);
  EXPECT_EQ(owners[0].calls_in_flight(), 1);
  EXPECT_EQ(owners[1].calls_in_flight(), 1);
  table.ForEach([&](Table::Entry& other) { table.Remove(other); });
  EXPECT_EQ(owners[0].calls_in_flight(), 0);
  EXPECT_EQ(owners[1].calls_in_flight(), 0);
}

// Positions are used again in another order than the calls'.
TEST(CallTableTest, AnOwnersCallsAreInTheOrderInWhichItGotThem) {
  Table table;
  Owner owners[2];
  ClientCall calls[8];
  for (ClientCall& call : calls) {
    call.transport_id = table.Add(&call, &owners[0]);
  }
  for (const int removed : {0, 7, 3, 4}) {
    table.Remove(*table.EntryOf(calls[removed]));
  }
  for (const int added : {3, 7, 0}) {
    calls[added].transport_id = table.Add(&calls[added], &owners[1]);
  }
  table.Move(*table.EntryOf(calls[5]), &owners[1]);
  const auto calls_of = [&](const Owner& owner) {
    std::vector<ClientCall*> found;
    table.ForEachOf(owner,
                    [&](Table::Entry& entry) { found.push_back(entry.call); });
    return found;
  };
  EXPECT_THAT(calls_of(owners[0]),
              ElementsAre(&calls[1], &calls[2], &calls[6]));
  EXPECT_THAT(calls_of(owners[1]),
              ElementsAre(&calls[3], &calls[7], &calls[0], &calls[5]));
  EXPECT_EQ(owners[0].calls_in_flight(), 3);
  EXPECT_EQ(owners[1].calls_in_flight(), 4);
}

TEST(CallTableTest, RetiredOwnersAreIdleOnceTheyHaveNoCalls) {
  Table table;
  Owner owners[3];
  ClientCall calls[3];
  calls[0].transport_id = table.Add(&calls[0], &owners[0]);
  calls[1].transport_id = table.Add(&calls[1], &owners[0]);
  calls[2].transport_id = table.Add(&calls[2], &owners[1]);
  table.Retire(owners[0]);
  EXPECT_FALSE(table.has_idle());
  table.Remove(*table.EntryOf(calls[0]));
  table.Remove(*table.EntryOf(calls[2]));
  EXPECT_FALSE(table.has_idle());
  table.Move(*table.EntryOf(calls[1]), &owners[1]);
  EXPECT_THAT(table.TakeIdle(), ElementsAre(&owners[0]));
  EXPECT_FALSE(table.has_idle());
  table.Retire(owners[2]);
  EXPECT_THAT(table.TakeIdle(), ElementsAre(&owners[2]));
}

TEST(CallTableTest, ACallThatHasEndedHasNoEntry) {
  Table table;
  Owner owner;
  ClientCall call;
  EXPECT_EQ(table.EntryOf(call), nullptr);
  ClientCall first;
  first.transport_id = table.Add(&first, &owner);
  EXPECT_EQ(table.EntryOf(call), nullptr) << "its id is another call's";
  ASSERT_NE(table.EntryOf(first), nullptr);
  table.Remove(*table.EntryOf(first));
  EXPECT_EQ(table.EntryOf(first), nullptr);
}

// Owns calls, and counts those that were given up.
struct Connection : CallOwner {
  void Abandon(ClientCall& call) { abandoned.push_back(&call); }
  std::vector<ClientCall*> abandoned;
};

class ClientCallsTest : public testing::Test {
 protected:
  using Calls = ClientCalls<Connection>;

  // Returns the errors of the calls that have ended.
  std::vector<std::string> Errors() {
    std::vector<std::string> errors;
    calls_.DeliverEnded(
        clock_, [&](ClientCall* call) { errors.emplace_back(call->error); });
    return errors;
  }

  base::ManualClock clock_;
  Calls calls_;
  Connection connections_[2];
  ClientCall client_[10];
};

TEST_F(ClientCallsTest, ACancelledCallEndsOnce) {
  calls_.Start(&client_[0], &connections_[0]);
  client_[0].transport_state = this;
  clock_.Advance(7);
  calls_.Cancel(client_[0]);
  calls_.Cancel(client_[0]);
  EXPECT_EQ(client_[0].transport_state, nullptr);
  EXPECT_THAT(connections_[0].abandoned, ElementsAre(&client_[0]));
  EXPECT_EQ(calls_.size(), 0);
  EXPECT_EQ(calls_.in_flight(), 1);
  EXPECT_THAT(Errors(), ElementsAre(kCancelled));
  EXPECT_EQ(client_[0].done_ns, 7);
  EXPECT_EQ(client_[0].responding_instance, kNoInstance);
  EXPECT_EQ(calls_.in_flight(), 0);
  EXPECT_THAT(Errors(), IsEmpty());
}

TEST_F(ClientCallsTest, ExpiresWhatIsDueAndHasNotEnded) {
  for (int i = 0; i < 3; ++i) {
    client_[i].deadline_ns = 10 * (i + 1);
    calls_.Start(&client_[i], &connections_[0]);
  }
  calls_.Remove(*calls_.EntryOf(client_[0]));
  calls_.Expire(20);
  EXPECT_THAT(connections_[0].abandoned, ElementsAre(&client_[1]));
  EXPECT_THAT(Errors(), ElementsAre(kDeadlineExceeded));
  EXPECT_EQ(calls_.next_due_ns(), 30);
}

TEST_F(ClientCallsTest, AnOwnerThatIsLostTakesItsCallsOnly) {
  for (int i = 0; i < 10; ++i) {
    calls_.Start(&client_[i], &connections_[i % 2]);
  }
  EXPECT_TRUE(calls_.Lose(connections_[0], "lost"));
  EXPECT_FALSE(calls_.Lose(connections_[0], "lost"));
  EXPECT_EQ(calls_.size(), 5);
  EXPECT_THAT(connections_[0].abandoned, IsEmpty());
  EXPECT_THAT(Errors(), AllOf(SizeIs(5), Each("lost")));
}

TEST_F(ClientCallsTest, LostCallsEndInTheOrderInWhichTheyWereStarted) {
  for (int i = 0; i < 4; ++i) calls_.Start(&client_[i], &connections_[0]);
  for (int i = 0; i < 4; ++i) {
    calls_.Remove(*calls_.EntryOf(client_[i]));
    calls_.Start(&client_[i], &connections_[0]);
  }
  calls_.Remove(*calls_.EntryOf(client_[1]));
  calls_.Remove(*calls_.EntryOf(client_[3]));
  calls_.Start(&client_[4], &connections_[0]);
  calls_.Start(&client_[5], &connections_[0]);
  calls_.Lose(connections_[0], "lost");
  std::vector<ClientCall*> ended;
  calls_.DeliverEnded(clock_, [&](ClientCall* call) { ended.push_back(call); });
  EXPECT_THAT(ended,
              ElementsAre(&client_[0], &client_[2], &client_[4], &client_[5]));
}

TEST_F(ClientCallsTest, CallsThatEndWhileOthersAreDeliveredWait) {
  calls_.Start(&client_[0], &connections_[0]);
  calls_.CancelAll();
  calls_.DeliverEnded(
      clock_, [&](ClientCall*) { calls_.EndWith(&client_[1], "at once"); });
  EXPECT_THAT(Errors(), ElementsAre("at once"));
}

bool AllAreLive(uint64_t) { return true; }

TEST(DeadlineQueueTest, PopsTheEarliestFirst) {
  DeadlineQueue queue;
  EXPECT_EQ(queue.next_due_ns(), DeadlineQueue::kNever);
  for (int64_t due_ns : {50, 10, 40, 20, 30}) {
    queue.Add(due_ns, due_ns, AllAreLive);
  }
  for (uint64_t expected : {10, 20, 30, 40, 50}) {
    EXPECT_EQ(queue.next_due_ns(), expected);
    EXPECT_EQ(queue.Pop(), expected);
  }
  EXPECT_EQ(queue.next_due_ns(), DeadlineQueue::kNever);
}

TEST(DeadlineQueueTest, ForgetsEndedCallsOnceThereAreMany) {
  constexpr int kCalls = 1'000'000;
  constexpr int kInFlight = 100;
  DeadlineQueue queue;
  int asked = 0;
  int last = 0;
  const auto is_live = [&](uint64_t id) {
    ++asked;
    return id + kInFlight > static_cast<uint64_t>(last);
  };
  for (last = 0; last < kCalls; ++last) queue.Add(last, last, is_live);
  int left = 0;
  while (queue.next_due_ns() != DeadlineQueue::kNever) {
    queue.Pop();
    ++left;
  }
  EXPECT_LT(left, 2000);
  EXPECT_LT(asked, 2 * kCalls);
}

constexpr int64_t kDueNs = 1'000'000'000;
constexpr int64_t kLateNs = kStandstillNs;

TEST(LateDeadlinesTest, JudgesAtOnceIfTheWorkerWasThere) {
  LateDeadlines late;
  EXPECT_TRUE(late.MayJudge(kDueNs, kDueNs, /*nothing_left=*/false));
  EXPECT_TRUE(late.MayJudge(kDueNs, kDueNs + kLateNs, /*nothing_left=*/false));
}

TEST(LateDeadlinesTest, ReadsFirstAfterAStandstill) {
  LateDeadlines late;
  const int64_t now_ns = kDueNs + 2 * kLateNs;
  // What was found before the standstill says nothing.
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns, /*nothing_left=*/true));
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 1, /*nothing_left=*/false));
  EXPECT_TRUE(late.MayJudge(kDueNs, now_ns + 2, /*nothing_left=*/true));
  // The next standstill is another one.
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 3, /*nothing_left=*/true));
}

TEST(LateDeadlinesTest, DoesNotReadForever) {
  LateDeadlines late;
  const int64_t now_ns = kDueNs + 3 * kLateNs;
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns, /*nothing_left=*/false));
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 3 * kLateNs - 1,
                             /*nothing_left=*/false));
  EXPECT_TRUE(
      late.MayJudge(kDueNs, now_ns + 3 * kLateNs, /*nothing_left=*/false));
}

}  // namespace
}  // namespace distbench::protocol
