#include "distbench/protocol/call_table.h"

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

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
  table.RemoveIf([](const Table::Entry&) { return true; });
  EXPECT_EQ(owners[0].calls_in_flight(), 0);
  EXPECT_EQ(owners[1].calls_in_flight(), 0);
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

TEST(CallTableTest, RemovesManyAtOnce) {
  Table table;
  Owner owners[2];
  ClientCall calls[10];
  for (int i = 0; i < 10; ++i) table.Add(&calls[i], &owners[i % 2]);
  table.RemoveIf(
      [&](const Table::Entry& entry) { return entry.owner == &owners[0]; });
  EXPECT_EQ(table.size(), 5);
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
constexpr int64_t kLateNs = LateDeadlines::kLateNs;

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
