// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_PACING_TIMER_QUEUE_H_
#define DISTBENCH_ENGINE_PACING_TIMER_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace distbench::engine {

// Something that is due at a given time. A member of the object that waits,
// which must not move while the timer is armed.
struct Timer {
  // What to do when the timer is due; implies the owner's type.
  enum class Kind : uint8_t {
    kStartMainList,
    kActionDelay,
    kActionPace,
    kIterationWait,
    kIterationReceive,
    kReplaySchedule,
    kReplayRecord,
    kReply,
    kStreamWrite,
    kPolicy,
    kSendQueue,
    kFault,
  };
  // The traffic whose stop makes the timer fire before it is due: the
  // instance's own, or all of it.
  enum class Traffic : uint8_t { kNone, kOwn, kAll };
  static constexpr size_t kNotArmed = std::numeric_limits<size_t>::max();

  Kind kind = Kind::kActionDelay;
  Traffic traffic = Traffic::kNone;
  bool spin = false;  // wait for it by burning CPU
  void* owner = nullptr;
  int64_t due_ns = 0;
  size_t position = kNotArmed;  // in the queue

  bool armed() const { return position != kNotArmed; }
};

// The timers of one worker, earliest first; equal times are in no particular
// order. A binary heap: O(log n) to arm and to cancel. Owns no timers. Not
// thread-safe.
class TimerQueue {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Arms a timer that is not armed.
  void Arm(Timer& timer, int64_t due_ns);

  // Disarms a timer; does nothing if it is not armed.
  void Cancel(Timer& timer);

  // kNever if there is none.
  int64_t next_due_ns() const {
    return heap_.empty() ? kNever : heap_.front()->due_ns;
  }

  // Whether to wait for the earliest timer by spinning.
  bool next_spins() const { return !heap_.empty() && heap_.front()->spin; }

  // Disarms and returns the earliest timer if it is due, else null.
  Timer* PopDue(int64_t now_ns) {
    return next_due_ns() <= now_ns ? Pop() : nullptr;
  }

  // Disarms and returns the earliest timer; null if there is none.
  Timer* Pop();

  bool empty() const { return heap_.empty(); }

 private:
  void SiftUp(size_t position);
  void SiftDown(size_t position);
  void Place(Timer* timer, size_t position);

  std::vector<Timer*> heap_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PACING_TIMER_QUEUE_H_
