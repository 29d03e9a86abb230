// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_LINKED_QUEUE_H_
#define DISTBENCH_BASE_LINKED_QUEUE_H_

namespace distbench::base {

// A queue of objects that hold its links themselves, as members `T* previous`
// and `T* next` that nobody else uses. Owns no objects, allocates nothing, and
// takes constant time for all that it does. An object must not move while it is
// in a queue, and is in one at a time. Not thread-safe.
template <typename T>
class LinkedQueue {
 public:
  bool empty() const { return first_ == nullptr; }

  // Null if it is empty.
  T* front() const { return first_; }

  void Push(T& object) {
    object.previous = last_;
    object.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &object;
    last_ = &object;
  }

  // Removes an object of this queue, wherever it is.
  void Remove(T& object) {
    (object.previous == nullptr ? first_ : object.previous->next) = object.next;
    (object.next == nullptr ? last_ : object.next->previous) = object.previous;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_LINKED_QUEUE_H_
