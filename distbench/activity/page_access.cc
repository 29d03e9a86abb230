#include "distbench/activity/page_access.h"

#include <array>
#include <atomic>

namespace distbench::activity {
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

void FillAtRandom(const PageRange& pages, WorkRandom& random) {
  const Words words(pages);
  for (int64_t i = 0; i < words.count(); ++i) words.Store(i, random());
}

void FillWithRepetition(const PageRange& pages, WorkRandom& random) {
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

}  // namespace distbench::activity
