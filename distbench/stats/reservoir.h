// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A uniform sample of a stream of unknown length, in bounded memory.

#ifndef DISTBENCH_STATS_RESERVOIR_H_
#define DISTBENCH_STATS_RESERVOIR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"

namespace distbench::stats {

// Keeps all items up to its capacity; beyond that, every item seen so far is
// among the kept ones with the same probability (Vitter's algorithm R). As long
// as no item was dropped, the items are in their original order.
//
// Memory grows with the number of items, and growing never moves an item, so
// the cost of Add() has no spikes. The choice of items depends only on the seed
// and the number of items. Not thread-safe. A moved-from reservoir may only be
// destroyed or assigned to.
template <typename T>
class Reservoir {
  static_assert(std::is_trivially_copyable_v<T>,
                "items are overwritten in place");
  static_assert(std::is_trivially_destructible_v<T>, "and never destroyed");

 public:
  // capacity: at least 0.
  Reservoir(int64_t capacity, uint64_t seed)
      : capacity_(capacity), random_state_(seed) {}

  void Add(const T& item) {
    T* const place = NextPlace();
    if (place != nullptr) *place = item;
  }

  // Same as Add(), but the caller writes the item to the returned place before
  // it calls anything else here; null means that the item is not kept. A
  // replaced item is usually in no cache; this way, the caller can prefetch
  // several of them at once.
  T* NextPlace() {
    ++seen_;
    if (size_ < capacity_) return &Append();
    const int64_t position = UniformBelow(seen_);
    return position < capacity_ ? &At(position) : nullptr;
  }

  // Adds another reservoir's stream to this one, as if its items had been seen
  // here. Requires equal capacities and independent seeds.
  void Merge(Reservoir other);

  // Items kept, in [0, size()).
  const T& operator[](int64_t index) const {
    return chunks_[index / kChunkItems][index % kChunkItems];
  }
  int64_t size() const { return size_; }

  int64_t capacity() const { return capacity_; }
  int64_t seen_count() const { return seen_; }
  int64_t dropped_count() const { return seen_ - size_; }

  // Forgets all items, but keeps their memory. The random sequence goes on.
  void Clear() {
    size_ = 0;
    seen_ = 0;
  }

 private:
  // Touched for the first time, its memory costs the kernel a twentieth of the
  // time of a client with small messages over tcp.
  static constexpr int64_t kChunkItems = 1024;

  // Aligned so that an item of the size of a cache line is in exactly one.
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(T* chunk) const {
      ::operator delete(chunk, std::align_val_t(kAlignment));
    }
  };

  T& At(int64_t index) {
    const auto position = static_cast<uint64_t>(index);  // cheaper to divide
    return chunks_[position / kChunkItems][position % kChunkItems];
  }

  T& Append() {
    if (size_ == static_cast<int64_t>(chunks_.size()) * kChunkItems) {
      const int64_t items = std::min(kChunkItems, capacity_ - size_);
      chunks_.emplace_back(static_cast<T*>(
          ::operator new(items * sizeof(T), std::align_val_t(kAlignment))));
    }
    return At(size_++);
  }

  // Removes and returns a random item.
  T TakeAny() {
    T& chosen = At(UniformBelow(size_));
    return std::exchange(chosen, At(--size_));
  }

  // Returns a number in [0, limit), by SplitMix64 scaled by multiplication; the
  // bias is below limit / 2^64.
  int64_t UniformBelow(int64_t limit) {
    uint64_t bits = random_state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<int64_t>(absl::Uint128High64(
        absl::uint128(bits) * absl::uint128(static_cast<uint64_t>(limit))));
  }

  int64_t capacity_;
  int64_t seen_ = 0;
  int64_t size_ = 0;
  uint64_t random_state_;
  std::vector<std::unique_ptr<T[], Free>> chunks_;
};

// Draws `capacity` items without replacement from both streams together. Each
// draw picks a stream with the probability of its remaining items; the items of
// a reservoir stand for those of its stream.
template <typename T>
void Reservoir<T>::Merge(Reservoir other) {
  if (dropped_count() == 0 && size_ + other.seen_ <= capacity_) {
    for (int64_t i = 0; i < other.size_; ++i) {
      Append() = other[i];
    }
    seen_ += other.seen_;
    return;
  }
  Reservoir merged(capacity_, /*seed=*/0);
  int64_t remaining = seen_;
  int64_t other_remaining = other.seen_;
  while (merged.size_ < capacity_) {
    const bool from_this =
        UniformBelow(remaining + other_remaining) < remaining;
    --(from_this ? remaining : other_remaining);
    merged.Append() = from_this ? TakeAny() : other.TakeAny();
  }
  merged.seen_ = seen_ + other.seen_;
  merged.random_state_ = random_state_;
  *this = std::move(merged);
}

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RESERVOIR_H_
