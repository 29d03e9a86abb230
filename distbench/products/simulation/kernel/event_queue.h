// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The events of one thread, in the order in which they run.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_

#include <array>
#include <cstdint>
#include <vector>

namespace distbench::simulation {

// What an event carries: whatever its handler has agreed on with itself.
struct SimulatedEvent {
  int kind = 0;
  int node = 0;  // whose event it is; the simulator fills it in
  int64_t value = 0;
  void* content = nullptr;
};

class SimulatedEventHandler {
 public:
  virtual ~SimulatedEventHandler() = default;
  // Runs on the thread of the node that the event was scheduled for.
  virtual void OnEvent(const SimulatedEvent& event) = 0;
};

struct ScheduledEvent {
  int64_t time_ns = 0;
  uint64_t order = 0;  // among those of the same time
  SimulatedEventHandler* handler = nullptr;
  SimulatedEvent event = {};

  bool IsBefore(const ScheduledEvent& other) const {
    return time_ns != other.time_ns ? time_ns < other.time_ns
                                    : order < other.order;
  }
};

// A heap of all events would be larger than the caches of a CPU if there are
// thousands of nodes. Nearly all events are due within microseconds, so they
// wait unsorted in the slot of their time until its turn comes:
//
//   current_  a heap: everything until the end of the current slot
//   slots_    a ring: the slots that follow, unsorted
//   later_    a heap: everything after the ring
//
// Not thread-safe.
class EventQueue {
 public:
  // Times must not be negative.
  void Add(const ScheduledEvent& event);

  // The event that is due first, until the queue changes; null if there is
  // none.
  const ScheduledEvent* First() {
    if (current_.empty()) Refill();
    return current_.empty() ? nullptr : &current_.front();
  }

  // Requires that First() has returned one.
  ScheduledEvent TakeFirst();

  // Fetches what the next event needs into the cache: mostly it is one of
  // another node, of which there may be thousands.
  void PrefetchNext() const {
    if (current_.empty()) return;
    Prefetch(current_.front().handler);
    Prefetch(current_.front().event.content);
  }

 private:
  // The lines that hold most of a handler, or of a message.
  static void Prefetch(const void* object) {
    constexpr int kLines = 3;
    constexpr int kLineBytes = 64;
    for (int i = 0; i < kLines; ++i) {
      __builtin_prefetch(static_cast<const char*>(object) + i * kLineBytes);
    }
  }

  static constexpr int kSlotShift = 9;  // 512 ns
  static constexpr int kSlots = 256;
  static constexpr int kBitsPerWord = 64;
  using Words = std::array<uint64_t, kSlots / kBitsPerWord>;

  static int64_t SlotOf(int64_t time_ns) { return time_ns >> kSlotShift; }

  void AddToSlot(int64_t slot, const ScheduledEvent& event);
  // Makes the next slot that has events the current one. Requires that the
  // current one has none left.
  void Refill();
  // How many slots after the current one the next in use is; 0: none is.
  int DistanceToUsedSlot() const;
  void TakeFromLater();

  std::vector<ScheduledEvent> current_;
  int64_t current_slot_ = 0;
  std::array<std::vector<ScheduledEvent>, kSlots> slots_;  // by slot % kSlots
  Words used_slots_ = {};  // a bit for each that is not empty
  std::vector<ScheduledEvent> later_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_
