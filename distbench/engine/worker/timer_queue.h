#ifndef DISTBENCH_ENGINE_WORKER_TIMER_QUEUE_H_
#define DISTBENCH_ENGINE_WORKER_TIMER_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace distbench {

// Something that is due at a time. Lives inside the object that waits, which
// must stay where it is while the timer is armed.
struct Timer {
  // What to do when it is due; the owner's type follows from it.
  enum class Kind : uint8_t {
    kStartMainList,
    kActionDelay,
    kActionPace,
    kIterationWait,
    kReplaySchedule,
    kReplayRecord,
    kReply,
  };
  static constexpr size_t kNotArmed = std::numeric_limits<size_t>::max();

  Kind kind = Kind::kActionDelay;
  bool spin = false;  // wait for it by burning CPU
  void* owner = nullptr;
  int64_t due_ns = 0;
  size_t position = kNotArmed;  // in the queue

  bool armed() const { return position != kNotArmed; }
};

// Timers of one worker, earliest first; among equals in no order. A binary
// heap: O(log n) to arm and to cancel. Owns no timer. Not thread-safe.
class TimerQueue {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Arms a timer that is not armed.
  void Arm(Timer& timer, int64_t due_ns);

  // Disarms a timer; one that is not armed is left alone.
  void Cancel(Timer& timer);

  // kNever if there is none.
  int64_t next_due_ns() const {
    return heap_.empty() ? kNever : heap_.front()->due_ns;
  }

  // Whether the earliest timer is to be waited for by spinning.
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

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_TIMER_QUEUE_H_
