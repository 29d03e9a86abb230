// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_GROW_MEMORY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_GROW_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"
#include "distbench/base/work_random.h"

namespace distbench::protection {

// Memory that grows page by page, within a limit, until all of it is freed.

// Size of a page of this host, in bytes.
int64_t PageBytes();

// Pages that may still be allocated. Thread-safe.
class PageBudget {
 public:
  explicit PageBudget(int64_t pages) : left_(pages) {}

  // Returns how many of `most` pages the caller may allocate.
  int64_t Take(int64_t most) ABSL_LOCKS_EXCLUDED(mutex_);
  void PutBack(int64_t pages) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  int64_t left_ ABSL_GUARDED_BY(mutex_);
};

// Consecutive pages.
struct PageRange {
  std::byte* begin = nullptr;
  int64_t count = 0;
};

// Anonymous memory of this process. The destructor frees it. Thread-safe; the
// contents of pages are the caller's affair.
class HeldMemory {
 public:
  // `budget` must outlive this object.
  HeldMemory(PageBudget& budget, bool prefers_huge_pages)
      : budget_(budget), prefers_huge_pages_(prefers_huge_pages) {}
  ~HeldMemory();

  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  enum class Growth {
    kGrown,
    kAtLimit,  // the budget is used up
    kRefused,  // by the system
  };

  // Allocates up to most_pages (at least 1) consecutive pages, which nobody has
  // touched yet. `fresh` is empty unless the result is kGrown.
  Growth Grow(int64_t most_pages, PageRange& fresh) ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of pages in the first `percent` of what has been allocated:
  // rounded up, so that it is at least one if there are any.
  int64_t HotPages(int percent) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns up to most_pages of these hot pages, in turn: those that follow
  // what the previous call returned, again from the start after the last one.
  // Empty if there are none.
  PageRange NextHot(int percent, int64_t most_pages)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Address space, of which the first pages are allocated.
  struct Mapping {
    std::byte* begin;
    int64_t first_page;  // its number among all pages
    int64_t page_count;
  };

  bool Map() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t HotPagesLocked(int percent) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t mapped_pages() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return mappings_.empty()
               ? 0
               : mappings_.back().first_page + mappings_.back().page_count;
  }

  PageBudget& budget_;
  const bool prefers_huge_pages_;
  absl::Mutex mutex_;
  std::vector<Mapping> mappings_ ABSL_GUARDED_BY(mutex_);
  int64_t allocated_pages_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t next_hot_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What the threads of an instance share: its memory, and the limit for it.
// Thread-safe.
class MemoryHolder {
 public:
  // limit_bytes must be at least a page.
  MemoryHolder(int64_t limit_bytes, bool prefers_huge_pages)
      : budget_(limit_bytes / PageBytes()),
        prefers_huge_pages_(prefers_huge_pages) {}

  // The present memory. It is not freed as long as somebody has the pointer,
  // which must not outlive this object.
  std::shared_ptr<HeldMemory> Get() ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives up `memory`, if it is still the present one: Get() then returns
  // another, which is empty.
  void GiveUp(const std::shared_ptr<HeldMemory>& memory)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  PageBudget budget_;
  const bool prefers_huge_pages_;
  absl::Mutex mutex_;
  std::shared_ptr<HeldMemory> present_ ABSL_GUARDED_BY(mutex_);
};

// Filling and touching pages of memory that several threads may use at the same
// time: single words are never torn, and that is all that is promised.

// Writes random bytes, which do not compress.
void FillAtRandom(const PageRange& pages, base::WorkRandom& random);

// Writes the same random 64 bytes over and over, which compresses well. A page
// of equal words would be too easy: kernels keep such a page as one word.
void FillWithRepetition(const PageRange& pages, base::WorkRandom& random);

// Reads the first word of each page, and returns the sum.
uint64_t ReadPages(const PageRange& pages);

// Writes the first word of each page.
void WritePages(const PageRange& pages, uint64_t value);

struct GrowMemoryOptions {
  // Fresh memory of an iteration, rounded up to whole pages.
  int64_t bytes_per_iteration = 1;

  // Of all activities that share their memory; rounded down to whole pages, but
  // at least one.
  int64_t limit_bytes = 0;

  // At the limit: free everything and start again, or keep it.
  bool restarts = false;

  // What is touched again by each iteration, and how.
  int hot_percent = 100;
  bool reads = true;
  bool writes = true;

  bool is_compressible = false;
  bool prefers_huge_pages = false;
  uint64_t seed = 0;

  // Limits the time of an iteration.
  const base::Clock* clock = &base::RealClock();
};

// Each iteration allocates memory and fills it, then touches one word of each
// hot page. After half of activity::kLongestIterationNs it stops allocating,
// and after all of it touching. The next iteration touches the pages that
// follow.
//
// If the system refuses memory, that is a failed operation and the iteration
// goes on without. If it then has nothing to do, it waits a moment, lest it
// become a load on the CPU.
std::unique_ptr<activity::Activity> MakeGrowMemory(
    const GrowMemoryOptions& options);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_GROW_MEMORY_H_
