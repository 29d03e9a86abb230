// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/grow_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/work_random.h"

namespace distbench::protection {
namespace {

// The words of some pages. Relaxed accesses cost nothing.
class Words {
 public:
  explicit Words(const PageRange& pages)
      : words_(reinterpret_cast<uint64_t*>(pages.begin)),
        count_(pages.count * per_page()) {}

  static int64_t per_page() {
    return PageBytes() / static_cast<int64_t>(sizeof(uint64_t));
  }
  int64_t count() const { return count_; }

  uint64_t Load(int64_t place) const {
    return std::atomic_ref<uint64_t>(words_[place])
        .load(std::memory_order_relaxed);
  }
  void Store(int64_t place, uint64_t value) const {
    std::atomic_ref<uint64_t>(words_[place])
        .store(value, std::memory_order_relaxed);
  }

 private:
  uint64_t* const words_;
  const int64_t count_;
};

}  // namespace

void FillAtRandom(const PageRange& pages, base::WorkRandom& random) {
  const Words words(pages);
  for (int64_t i = 0; i < words.count(); ++i) words.Store(i, random());
}

void FillWithRepetition(const PageRange& pages, base::WorkRandom& random) {
  std::array<uint64_t, 8> repeated;
  for (uint64_t& word : repeated) word = random();
  const Words words(pages);
  for (int64_t i = 0; i < words.count(); ++i) {
    words.Store(i, repeated[i % repeated.size()]);
  }
}

uint64_t ReadPages(const PageRange& pages) {
  const Words words(pages);
  uint64_t sum = 0;
  for (int64_t i = 0; i < words.count(); i += Words::per_page()) {
    sum += words.Load(i);
  }
  return sum;
}

void WritePages(const PageRange& pages, uint64_t value) {
  const Words words(pages);
  for (int64_t i = 0; i < words.count(); i += Words::per_page()) {
    words.Store(i, value);
  }
}

namespace {

// Address space that is mapped at a time. Takes no memory until it is touched;
// few mappings are fast to search.
constexpr int64_t kMappingBytes = int64_t{64} << 20;

}  // namespace

int64_t PageBytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

int64_t PageBudget::Take(int64_t most) {
  absl::MutexLock lock(&mutex_);
  const int64_t taken = std::min(most, left_);
  left_ -= taken;
  return taken;
}

void PageBudget::PutBack(int64_t pages) {
  absl::MutexLock lock(&mutex_);
  left_ += pages;
}

HeldMemory::~HeldMemory() {
  absl::MutexLock lock(&mutex_);
  for (const Mapping& mapping : mappings_) {
    munmap(mapping.begin, mapping.page_count * PageBytes());
  }
  // Only now, so that the limit holds while the memory is being freed.
  budget_.PutBack(allocated_pages_);
}

HeldMemory::Growth HeldMemory::Grow(int64_t most_pages, PageRange& fresh) {
  absl::MutexLock lock(&mutex_);
  fresh = {};
  const int64_t allowed = budget_.Take(most_pages);
  if (allowed == 0) return Growth::kAtLimit;
  if (allocated_pages_ == mapped_pages() && !Map()) {
    budget_.PutBack(allowed);
    return Growth::kRefused;
  }
  const Mapping& last = mappings_.back();
  fresh.count = std::min(allowed, mapped_pages() - allocated_pages_);
  fresh.begin = last.begin + (allocated_pages_ - last.first_page) * PageBytes();
  allocated_pages_ += fresh.count;
  budget_.PutBack(allowed - fresh.count);
  return Growth::kGrown;
}

bool HeldMemory::Map() {
  void* const begin = mmap(nullptr, kMappingBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return false;
  // Fails if the kernel has no huge pages; then there is nothing to advise.
  madvise(begin, kMappingBytes,
          prefers_huge_pages_ ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  mappings_.push_back({.begin = static_cast<std::byte*>(begin),
                       .first_page = mapped_pages(),
                       .page_count = kMappingBytes / PageBytes()});
  return true;
}

int64_t HeldMemory::HotPages(int percent) {
  absl::MutexLock lock(&mutex_);
  return HotPagesLocked(percent);
}

int64_t HeldMemory::HotPagesLocked(int percent) const {
  return (allocated_pages_ * percent + 99) / 100;
}

PageRange HeldMemory::NextHot(int percent, int64_t most_pages) {
  absl::MutexLock lock(&mutex_);
  const int64_t hot_pages = HotPagesLocked(percent);
  if (hot_pages == 0) return {};
  if (next_hot_ >= hot_pages) next_hot_ = 0;
  const auto after =
      std::upper_bound(mappings_.begin(), mappings_.end(), next_hot_,
                       [](int64_t page, const Mapping& mapping) {
                         return page < mapping.first_page;
                       });
  const Mapping& mapping = *std::prev(after);
  const int64_t place = next_hot_ - mapping.first_page;
  const PageRange range = {.begin = mapping.begin + place * PageBytes(),
                           .count = std::min({most_pages, hot_pages - next_hot_,
                                              mapping.page_count - place})};
  next_hot_ += range.count;
  return range;
}

std::shared_ptr<HeldMemory> MemoryHolder::Get() {
  absl::MutexLock lock(&mutex_);
  if (present_ == nullptr) {
    present_ = std::make_shared<HeldMemory>(budget_, prefers_huge_pages_);
  }
  return present_;
}

void MemoryHolder::GiveUp(const std::shared_ptr<HeldMemory>& memory) {
  // Freed, which may take long, after the lock is released.
  std::shared_ptr<HeldMemory> given_up;
  absl::MutexLock lock(&mutex_);
  if (present_ == memory) given_up = std::exchange(present_, nullptr);
}

namespace {

// Pages between two looks at the clock: a fraction of a millisecond of work,
// unless the system makes it wait.
constexpr int64_t kPagesAtOnce = 64;

// How long an iteration without anything to do takes.
constexpr absl::Duration kNothingToDo = absl::Milliseconds(1);

class GrowMemory final : public activity::Activity {
 public:
  explicit GrowMemory(const GrowMemoryOptions& options)
      : options_(options),
        pages_per_iteration_((options.bytes_per_iteration + PageBytes() - 1) /
                             PageBytes()),
        holder_(std::make_shared<MemoryHolder>(
            std::max(options.limit_bytes, PageBytes()),
            options.prefers_huge_pages)) {}

  activity::Work DoPart(uint64_t iteration, int /*step*/,
                        int /*part*/) override {
    const int64_t start_ns = options_.clock->MonotonicNs();
    const std::shared_ptr<HeldMemory> memory = holder_->Get();
    activity::Work work;
    const bool at_limit = !Grow(
        *memory, iteration, start_ns + activity::kLongestIterationNs / 2, work);
    if (at_limit && options_.restarts) {
      holder_->GiveUp(memory);
    } else {
      Touch(*memory, iteration, start_ns + activity::kLongestIterationNs, work);
      if (work.operations == 0) absl::SleepFor(kNothingToDo);
    }
    return work;
  }

  void ShareWith(activity::Activity& other) override {
    holder_ = static_cast<GrowMemory&>(other).holder_;
  }

  void Release() override { holder_->GiveUp(holder_->Get()); }

 private:
  bool IsTimeLeft(int64_t end_ns) const {
    return options_.clock->MonotonicNs() < end_ns;
  }

  // Returns false if the limit has been reached.
  bool Grow(HeldMemory& memory, uint64_t iteration, int64_t end_ns,
            activity::Work& work) const {
    base::WorkRandom random(options_.seed, iteration);
    int64_t left = pages_per_iteration_;
    while (left > 0 && IsTimeLeft(end_ns)) {
      PageRange fresh;
      switch (memory.Grow(std::min(left, kPagesAtOnce), fresh)) {
        case HeldMemory::Growth::kAtLimit:
          return false;
        case HeldMemory::Growth::kRefused:
          ++work.failed_operations;
          return true;
        case HeldMemory::Growth::kGrown:
          break;
      }
      Fill(fresh, random);
      left -= fresh.count;
      work.operations += fresh.count;
      work.output_bytes += fresh.count * PageBytes();
    }
    return true;
  }

  void Fill(const PageRange& pages, base::WorkRandom& random) const {
    if (options_.is_compressible) {
      FillWithRepetition(pages, random);
    } else {
      FillAtRandom(pages, random);
    }
  }

  void Touch(HeldMemory& memory, uint64_t iteration, int64_t end_ns,
             activity::Work& work) const {
    int64_t left = memory.HotPages(options_.hot_percent);
    while (left > 0 && IsTimeLeft(end_ns)) {
      const PageRange pages =
          memory.NextHot(options_.hot_percent, std::min(left, kPagesAtOnce));
      left -= pages.count;
      work.operations += pages.count;
      if (options_.reads) {
        // Not reported, as it depends on what the threads did when.
        work.checksum += ReadPages(pages);
        work.input_bytes += pages.count * PageBytes();
      }
      if (options_.writes) {
        WritePages(pages, base::WorkRandom::Mix(iteration));
        work.output_bytes += pages.count * PageBytes();
      }
    }
  }

  const GrowMemoryOptions options_;
  const int64_t pages_per_iteration_;
  std::shared_ptr<MemoryHolder> holder_;
};

}  // namespace

std::unique_ptr<activity::Activity> MakeGrowMemory(
    const GrowMemoryOptions& options) {
  return std::make_unique<GrowMemory>(options);
}

}  // namespace distbench::protection
