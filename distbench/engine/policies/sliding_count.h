#ifndef DISTBENCH_ENGINE_POLICIES_SLIDING_COUNT_H_
#define DISTBENCH_ENGINE_POLICIES_SLIDING_COUNT_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace distbench::engine {

// Counts events of the last window_ns. The window moves in steps of a sixteenth
// of it, so that memory and time are constant; bounds on both sides say what
// that leaves open. Times are monotonic and must not decrease.
class SlidingCount {
 public:
  // window_ns: at least 1.
  explicit SlidingCount(int64_t window_ns)
      : slot_ns_((window_ns - 1) / kSlots + 1) {}

  void Add(int64_t now_ns, int64_t count = 1) {
    Advance(now_ns);
    counts_[slot_ % counts_.size()] += count;
    total_ += count;
  }

  // All events of the window, and perhaps some that are up to a sixteenth of it
  // older.
  int64_t AtMost(int64_t now_ns) {
    Advance(now_ns);
    return total_;
  }

  // Only events of the window, and perhaps not those of its oldest sixteenth.
  int64_t AtLeast(int64_t now_ns) {
    Advance(now_ns);
    return total_ - counts_[(slot_ + 1) % counts_.size()];
  }

  void Clear() {
    counts_.fill(0);
    total_ = 0;
  }

 private:
  static constexpr int64_t kSlots = 16;

  void Advance(int64_t now_ns) {
    const int64_t slot = now_ns / slot_ns_;
    const int64_t passed = std::min<int64_t>(slot - slot_, counts_.size());
    for (int64_t i = 1; i <= passed; ++i) {
      int64_t& oldest = counts_[(slot_ + i) % counts_.size()];
      total_ -= oldest;
      oldest = 0;
    }
    slot_ = std::max(slot, slot_);
  }

  int64_t slot_ns_;
  int64_t slot_ = 0;  // the current one
  int64_t total_ = 0;
  std::array<int64_t, kSlots + 1> counts_ = {};  // by slot, modulo their number
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_POLICIES_SLIDING_COUNT_H_
