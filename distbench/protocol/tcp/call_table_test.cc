#include "distbench/protocol/tcp/call_table.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

struct Owner {};
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

TEST(CallTableTest, RemovesManyAtOnce) {
  Table table;
  Owner owners[2];
  ClientCall calls[10];
  for (int i = 0; i < 10; ++i) table.Add(&calls[i], &owners[i % 2]);
  table.RemoveIf(
      [&](const Table::Entry& entry) { return entry.owner == &owners[0]; });
  EXPECT_EQ(table.size(), 5);
}

}  // namespace
}  // namespace distbench
