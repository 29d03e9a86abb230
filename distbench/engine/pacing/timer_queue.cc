// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/pacing/timer_queue.h"

namespace distbench::engine {

void TimerQueue::Arm(Timer& timer, int64_t due_ns) {
  timer.due_ns = due_ns;
  heap_.push_back(&timer);
  timer.position = heap_.size() - 1;
  SiftUp(timer.position);
}

void TimerQueue::Cancel(Timer& timer) {
  if (!timer.armed()) return;
  const size_t position = timer.position;
  timer.position = Timer::kNotArmed;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last == &timer) return;
  Place(last, position);
  SiftUp(position);
  SiftDown(last->position);
}

Timer* TimerQueue::Pop() {
  if (heap_.empty()) return nullptr;
  Timer* first = heap_.front();
  Cancel(*first);
  return first;
}

void TimerQueue::SiftUp(size_t position) {
  Timer* timer = heap_[position];
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (heap_[parent]->due_ns <= timer->due_ns) break;
    Place(heap_[parent], position);
    position = parent;
  }
  Place(timer, position);
}

void TimerQueue::SiftDown(size_t position) {
  Timer* timer = heap_[position];
  while (true) {
    size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() &&
        heap_[child + 1]->due_ns < heap_[child]->due_ns) {
      ++child;
    }
    if (timer->due_ns <= heap_[child]->due_ns) break;
    Place(heap_[child], position);
    position = child;
  }
  Place(timer, position);
}

void TimerQueue::Place(Timer* timer, size_t position) {
  heap_[position] = timer;
  timer->position = position;
}

}  // namespace distbench::engine
