// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The events of one thread, in the order in which they run.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_

#include <algorithm>
#include <array>
#include <cstddef>
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
};

// A heap of all events would be larger than the caches of a CPU if there are
// thousands of nodes. Nearly all events are due within microseconds, so they
// wait unsorted in the slot of their time until its turn comes:
//
//   current_  a heap: everything until the end of the current slot
//   ring_     the slots that follow, unsorted
//   later_    a heap: everything after the ring
//
// Not thread-safe.
class EventQueue {
 public:
  // Times must not be negative.
  void Add(const ScheduledEvent& event) {
    const int64_t slot = SlotOf(event);
    if (slot <= current_slot_) {
      Push(event, current_);
    } else if (slot < current_slot_ + kSlots) {
      AddToRing(event);
    } else {
      Push(event, later_);
    }
  }

  // The event that is due first, until the queue changes; null if there is
  // none.
  const ScheduledEvent* First() {
    if (current_.empty()) Refill();
    return current_.empty() ? nullptr : &current_.front();
  }

  // Requires that First() has returned one.
  ScheduledEvent TakeFirst() { return Pop(current_); }

  // Fetches what the next event needs into the cache: mostly it is one of
  // another node, of which there may be thousands.
  void PrefetchNext() const {
    if (current_.empty()) return;
    Prefetch(current_.front().handler);
    Prefetch(current_.front().event.content);
  }

 private:
  using Events = std::vector<ScheduledEvent>;

  static constexpr int kSlotShift = 9;  // 512 ns
  static constexpr int kSlots = 256;

  // The first element of a heap is its largest: the earliest event.
  struct IsLater {
    bool operator()(const ScheduledEvent& a, const ScheduledEvent& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.order > b.order;
    }
  };

  static void Push(const ScheduledEvent& event, Events& heap) {
    heap.push_back(event);
    std::push_heap(heap.begin(), heap.end(), IsLater());
  }

  static ScheduledEvent Pop(Events& heap) {
    std::pop_heap(heap.begin(), heap.end(), IsLater());
    const ScheduledEvent event = heap.back();
    heap.pop_back();
    return event;
  }

  // The lines that hold most of a handler, or of a message.
  static void Prefetch(const void* object) {
    constexpr int kLines = 3;
    constexpr int kLineBytes = 64;
    for (int i = 0; i < kLines; ++i) {
      __builtin_prefetch(static_cast<const char*>(object) + i * kLineBytes);
    }
  }

  static int64_t SlotOf(const ScheduledEvent& event) {
    return event.time_ns >> kSlotShift;
  }

  void AddToRing(const ScheduledEvent& event) {
    ring_[SlotOf(event) % kSlots].push_back(event);
    ++ring_size_;
  }

  // Makes the next slot that has events the current one. Requires that the
  // current one has none left.
  void Refill() {
    if (ring_size_ > 0) {
      do ++current_slot_;
      while (ring_[current_slot_ % kSlots].empty());
    } else if (!later_.empty()) {
      current_slot_ = SlotOf(later_.front());
    }
    // What the ring has room for now.
    while (!later_.empty() && SlotOf(later_.front()) < current_slot_ + kSlots) {
      AddToRing(Pop(later_));
    }
    current_.swap(ring_[current_slot_ % kSlots]);
    ring_size_ -= current_.size();
    std::make_heap(current_.begin(), current_.end(), IsLater());
  }

  Events current_;
  int64_t current_slot_ = 0;
  std::array<Events, kSlots> ring_;  // by slot % kSlots
  size_t ring_size_ = 0;             // events
  Events later_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_KERNEL_EVENT_QUEUE_H_
