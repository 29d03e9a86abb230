#include "distbench/activity/held_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace distbench::activity {
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

}  // namespace distbench::activity
