// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/grow_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "distbench/base/testing/scarce_memory.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

constexpr int64_t kAccessedPages = 10;

class PageAccessTest : public testing::Test {
 protected:
  PageRange pages() {
    return {.begin = reinterpret_cast<std::byte*>(words_.data()),
            .count = kAccessedPages};
  }

  // Compressed over uncompressed size.
  double Ratio() {
    const uLong size = words_.size() * sizeof(uint64_t);
    uLongf compressed_size = compressBound(size);
    std::vector<Bytef> compressed(compressed_size);
    EXPECT_EQ(compress(compressed.data(), &compressed_size,
                       reinterpret_cast<const Bytef*>(words_.data()), size),
              Z_OK);
    return static_cast<double>(compressed_size) / static_cast<double>(size);
  }

  const int64_t words_per_page_ =
      PageBytes() / static_cast<int64_t>(sizeof(uint64_t));
  std::vector<uint64_t> words_ =
      std::vector<uint64_t>(kAccessedPages * words_per_page_);
};

TEST_F(PageAccessTest, RandomPagesDoNotCompress) {
  base::WorkRandom random(1);
  FillAtRandom(pages(), random);
  EXPECT_GT(Ratio(), 0.99);
}

TEST_F(PageAccessTest, RepeatedOnesDoButAreNotOfEqualWords) {
  base::WorkRandom random(1);
  FillWithRepetition(pages(), random);
  EXPECT_LT(Ratio(), 0.05);
  EXPECT_NE(words_[0], words_[1]);
  EXPECT_NE(words_.back(), 0u);
}

TEST_F(PageAccessTest, TouchesOneWordOfEachPage) {
  WritePages(pages(), 7);
  EXPECT_EQ(ReadPages(pages()), 7u * kAccessedPages);
  int64_t written = 0;
  for (const uint64_t word : words_) written += word == 7 ? 1 : 0;
  EXPECT_EQ(written, kAccessedPages);
}

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

// Without huge pages, and with few enough that they do not end up in swap.
constexpr int64_t kPages = 2000;

GrowMemoryOptions Options() {
  return {.bytes_per_iteration = 100 * PageBytes(),
          .limit_bytes = kPages * PageBytes(),
          .hot_percent = 0,
          .seed = 1};
}

// Resident pages of this process. The counter in statm would be inexact.
int64_t ResidentPages() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::string word;
  while (rollup >> word && word != "Rss:") {
  }
  int64_t kib = 0;
  rollup >> kib;
  return kib * 1024 / PageBytes();
}

activity::Work DoIterations(activity::Activity& activity, int count) {
  activity::Work work;
  for (int i = 0; i < count; ++i) work += activity::DoIteration(activity, i);
  return work;
}

TEST(GrowMemoryTest, HoldsWhatItHasCounted) {
  const auto activity = MakeGrowMemory(Options());
  const int64_t before = ResidentPages();
  const activity::Work work = DoIterations(*activity, 20);
  EXPECT_EQ(work.operations, kPages);
  EXPECT_EQ(work.output_bytes, kPages * PageBytes());
  EXPECT_EQ(work.input_bytes, 0);
  EXPECT_EQ(work.failed_operations, 0);
  // The rest of the process changes little meanwhile.
  EXPECT_NEAR(ResidentPages() - before, kPages, kPages / 10);
  activity->Release();
  EXPECT_NEAR(ResidentPages() - before, 0, kPages / 10);
}

TEST(GrowMemoryTest, KeepsMemoryAtTheLimit) {
  const auto activity = MakeGrowMemory(Options());
  DoIterations(*activity, 20);
  const int64_t full = ResidentPages();
  EXPECT_EQ(DoIterations(*activity, 3).operations, 0);
  EXPECT_NEAR(ResidentPages(), full, kPages / 10);
}

TEST(GrowMemoryTest, StartsAgainAtTheLimit) {
  GrowMemoryOptions options = Options();
  options.restarts = true;
  const auto activity = MakeGrowMemory(options);
  DoIterations(*activity, 20);
  const int64_t full = ResidentPages();
  activity::DoIteration(*activity, 20);  // frees
  EXPECT_NEAR(ResidentPages(), full - kPages, kPages / 10);
  EXPECT_EQ(DoIterations(*activity, 20).operations, kPages);
}

TEST(GrowMemoryTest, TouchesTheHotPart) {
  GrowMemoryOptions options = Options();
  options.hot_percent = 30;
  const auto activity = MakeGrowMemory(options);
  const activity::Work first = activity::DoIteration(*activity, 0);
  EXPECT_EQ(first.output_bytes, (100 + 30) * PageBytes());
  EXPECT_EQ(first.input_bytes, 30 * PageBytes());
  const activity::Work second = activity::DoIteration(*activity, 1);
  EXPECT_EQ(second.operations, 100 + 60);
  options.writes = false;
  const auto reading = MakeGrowMemory(options);
  EXPECT_EQ(activity::DoIteration(*reading, 0).output_bytes, 100 * PageBytes());
  options.writes = true;
  options.reads = false;
  const auto writing = MakeGrowMemory(options);
  EXPECT_EQ(activity::DoIteration(*writing, 0).input_bytes, 0);
}

TEST(GrowMemoryTest, ThreadsShareTheMemoryAndItsLimit) {
  const auto first = MakeGrowMemory(Options());
  const auto second = MakeGrowMemory(Options());
  second->ShareWith(*first);
  activity::Work of_first;
  activity::Work of_second;
  std::thread thread([&] { of_first = DoIterations(*first, 20); });
  of_second = DoIterations(*second, 20);
  thread.join();
  EXPECT_EQ(of_first.operations + of_second.operations, kPages);
}

// Advances with each look at it.
class ImpatientClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override { return now_ns_ += step_ns; }
  int64_t UnixNs() const override { return 0; }

  int64_t step_ns = 0;

 private:
  mutable int64_t now_ns_ = 0;
};

TEST(GrowMemoryTest, AnIterationEndsInTimeAndTheNextContinues) {
  ImpatientClock clock;
  GrowMemoryOptions options = Options();
  options.bytes_per_iteration = 1000 * PageBytes();
  options.hot_percent = 100;
  options.clock = &clock;
  const auto activity = MakeGrowMemory(options);
  // A few looks at the clock use up the time.
  clock.step_ns = activity::kLongestIterationNs / 6;
  const activity::Work work = activity::DoIteration(*activity, 0);
  EXPECT_LT(work.operations, 1000);
  EXPECT_GT(work.output_bytes, 0);
  EXPECT_GT(work.input_bytes, 0);  // the hot part got its share of the time
  clock.step_ns = 0;
  EXPECT_EQ(activity::DoIteration(*activity, 1).input_bytes,
            (work.output_bytes - work.input_bytes) + 1000 * PageBytes());
}

}  // namespace
}  // namespace distbench::protection
