// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/kernel/event_queue.h"

#include <algorithm>
#include <bit>

namespace distbench::simulation {
namespace {

// The first element of a heap is its largest: the earliest event.
struct IsLater {
  bool operator()(const ScheduledEvent& a, const ScheduledEvent& b) const {
    return b.IsBefore(a);
  }
};

void Push(const ScheduledEvent& event, std::vector<ScheduledEvent>& heap) {
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), IsLater());
}

ScheduledEvent Pop(std::vector<ScheduledEvent>& heap) {
  std::pop_heap(heap.begin(), heap.end(), IsLater());
  const ScheduledEvent event = heap.back();
  heap.pop_back();
  return event;
}

}  // namespace

void EventQueue::Add(const ScheduledEvent& event) {
  const int64_t slot = SlotOf(event.time_ns);
  if (slot <= current_slot_) {
    Push(event, current_);
  } else if (slot < current_slot_ + kSlots) {
    AddToSlot(slot, event);
  } else {
    Push(event, later_);
  }
}

ScheduledEvent EventQueue::TakeFirst() { return Pop(current_); }

void EventQueue::AddToSlot(int64_t slot, const ScheduledEvent& event) {
  const int index = static_cast<int>(slot % kSlots);
  slots_[index].push_back(event);
  used_slots_[index / kBitsPerWord] |= uint64_t{1} << index % kBitsPerWord;
}

void EventQueue::Refill() {
  if (const int distance = DistanceToUsedSlot(); distance > 0) {
    current_slot_ += distance;
  } else if (!later_.empty()) {
    current_slot_ = SlotOf(later_.front().time_ns);
  } else {
    return;
  }
  TakeFromLater();
  const int index = static_cast<int>(current_slot_ % kSlots);
  used_slots_[index / kBitsPerWord] &= ~(uint64_t{1} << index % kBitsPerWord);
  current_.swap(slots_[index]);
  std::make_heap(current_.begin(), current_.end(), IsLater());
}

int EventQueue::DistanceToUsedSlot() const {
  constexpr int kWords = kSlots / kBitsPerWord;
  const int begin = static_cast<int>((current_slot_ + 1) % kSlots);
  const int first_word = begin / kBitsPerWord;
  // The first word comes twice: the bits from `begin` on, and those before it.
  for (int i = 0; i <= kWords; ++i) {
    const int word = (first_word + i) % kWords;
    uint64_t bits = used_slots_[word];
    if (i == 0) bits &= ~uint64_t{0} << begin % kBitsPerWord;
    if (bits == 0) continue;
    const int index = word * kBitsPerWord + std::countr_zero(bits);
    return 1 + (index - begin + kSlots) % kSlots;
  }
  return 0;
}

// What the ring has room for now.
void EventQueue::TakeFromLater() {
  while (!later_.empty() &&
         SlotOf(later_.front().time_ns) < current_slot_ + kSlots) {
    const ScheduledEvent event = Pop(later_);
    AddToSlot(SlotOf(event.time_ns), event);
  }
}

}  // namespace distbench::simulation
