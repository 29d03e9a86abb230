#include "distbench/activity/held_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <set>
#include <vector>

#include "distbench/base/testing/scarce_memory.h"
#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

// Writes to all pages.
void Fill(const PageRange& pages) {
  std::memset(pages.begin, 1, pages.count * PageBytes());
}

int64_t ResidentPages(const PageRange& pages) {
  std::vector<unsigned char> residence(pages.count);
  EXPECT_EQ(mincore(pages.begin, pages.count * PageBytes(), residence.data()),
            0);
  int64_t count = 0;
  for (const unsigned char page : residence) count += page & 1;
  return count;
}

TEST(HeldMemoryTest, PagesAreFreshAndResidentOnceTheyAreWritten) {
  PageBudget budget(100);
  HeldMemory memory(budget, /*prefers_huge_pages=*/false);
  PageRange pages;
  ASSERT_EQ(memory.Grow(20, pages), HeldMemory::Growth::kGrown);
  EXPECT_EQ(pages.count, 20);
  EXPECT_EQ(ResidentPages(pages), 0);
  Fill(pages);
  EXPECT_EQ(ResidentPages(pages), 20);
}

TEST(HeldMemoryTest, GrowsToTheLimit) {
  PageBudget budget(25);
  HeldMemory memory(budget, false);
  PageRange pages;
  ASSERT_EQ(memory.Grow(20, pages), HeldMemory::Growth::kGrown);
  ASSERT_EQ(memory.Grow(20, pages), HeldMemory::Growth::kGrown);
  EXPECT_EQ(pages.count, 5);
  EXPECT_EQ(memory.Grow(20, pages), HeldMemory::Growth::kAtLimit);
  EXPECT_EQ(pages.count, 0);
}

// Across the borders of mappings.
TEST(HeldMemoryTest, AllPagesAreDifferent) {
  constexpr int64_t kPages = 50'000;
  PageBudget budget(kPages);
  HeldMemory memory(budget, false);
  std::set<std::byte*> seen;
  PageRange pages;
  while (memory.Grow(999, pages) == HeldMemory::Growth::kGrown) {
    for (int64_t i = 0; i < pages.count; ++i) {
      EXPECT_TRUE(seen.insert(pages.begin + i * PageBytes()).second);
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kPages));
  // The hot pages are the first of them, again and again.
  EXPECT_EQ(memory.HotPages(60), 30'000);
  for (int round = 0; round < 2; ++round) {
    std::set<std::byte*> hot;
    while (hot.size() < 30'000) {
      pages = memory.NextHot(60, 1001);
      for (int64_t i = 0; i < pages.count; ++i) {
        ASSERT_TRUE(hot.insert(pages.begin + i * PageBytes()).second);
        ASSERT_EQ(seen.count(pages.begin + i * PageBytes()), 1u);
      }
    }
    EXPECT_EQ(hot.size(), 30'000u);
  }
}

TEST(HeldMemoryTest, ThereIsAHotPageIfThereAreAny) {
  PageBudget budget(3);
  HeldMemory memory(budget, false);
  EXPECT_EQ(memory.HotPages(1), 0);
  EXPECT_EQ(memory.NextHot(1, 10).count, 0);
  PageRange pages;
  memory.Grow(3, pages);
  EXPECT_EQ(memory.HotPages(1), 1);
  EXPECT_EQ(memory.NextHot(1, 10).begin, pages.begin);
  EXPECT_EQ(memory.HotPages(0), 0);
  EXPECT_EQ(memory.NextHot(0, 10).count, 0);
}

TEST(HeldMemoryTest, MemoryThatThereIsNotIsRefused) {
  if (base::kSanitized) GTEST_SKIP() << "sanitizers take memory themselves";
  PageBudget budget(10);
  HeldMemory memory(budget, false);
  PageRange pages;
  {
    const base::ScarceMemory scarce(1 << 20);
    EXPECT_EQ(memory.Grow(4, pages), HeldMemory::Growth::kRefused);
    EXPECT_EQ(pages.count, 0);
  }
  // The budget is as it was.
  EXPECT_EQ(memory.Grow(20, pages), HeldMemory::Growth::kGrown);
  EXPECT_EQ(pages.count, 10);
}

TEST(MemoryHolderTest, TheLimitHoldsUntilTheMemoryIsFreed) {
  MemoryHolder holder(10 * PageBytes(), false);
  std::shared_ptr<HeldMemory> memory = holder.Get();
  PageRange pages;
  ASSERT_EQ(memory->Grow(10, pages), HeldMemory::Growth::kGrown);
  Fill(pages);
  holder.GiveUp(memory);
  const std::shared_ptr<HeldMemory> next = holder.Get();
  EXPECT_NE(next, memory);
  EXPECT_EQ(next->Grow(10, pages), HeldMemory::Growth::kAtLimit);
  memory = nullptr;
  EXPECT_EQ(next->Grow(10, pages), HeldMemory::Growth::kGrown);
  EXPECT_EQ(pages.count, 10);
}

// Two threads may reach the limit at the same time.
TEST(MemoryHolderTest, OnlyThePresentMemoryIsGivenUp) {
  MemoryHolder holder(10 * PageBytes(), false);
  const std::shared_ptr<HeldMemory> memory = holder.Get();
  holder.GiveUp(memory);
  const std::shared_ptr<HeldMemory> next = holder.Get();
  holder.GiveUp(memory);
  EXPECT_EQ(holder.Get(), next);
}

}  // namespace
}  // namespace distbench::activity
