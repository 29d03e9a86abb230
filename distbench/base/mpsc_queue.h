#ifndef DISTBENCH_BASE_MPSC_QUEUE_H_
#define DISTBENCH_BASE_MPSC_QUEUE_H_

#include <atomic>

namespace distbench {

// An intrusive, unbounded, lock-free queue with many producers and one
// consumer. T has a member `T* next`, which the queue uses while it holds the
// object. The queue owns nothing.
template <typename T>
class MpscQueue {
 public:
  MpscQueue() = default;
  MpscQueue(const MpscQueue&) = delete;
  MpscQueue& operator=(const MpscQueue&) = delete;

  // Any thread. What the producer wrote to *node is visible to the consumer.
  // Returns true if the queue was empty, that is, if the consumer may need to
  // be woken.
  bool Push(T* node) {
    T* head = head_.load(std::memory_order_relaxed);
    do {
      node->next = head;
    } while (!head_.compare_exchange_weak(head, node, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }

  // Any thread; a snapshot.
  bool empty() const {
    return head_.load(std::memory_order_seq_cst) == nullptr;
  }

  // The consumer only. Takes everything, as a list linked by `next`, in the
  // order in which it was pushed.
  T* TakeAll() {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    T* newest_first = head_.exchange(nullptr, std::memory_order_acquire);
    T* oldest_first = nullptr;
    while (newest_first != nullptr) {
      T* next = newest_first->next;
      newest_first->next = oldest_first;
      oldest_first = newest_first;
      newest_first = next;
    }
    return oldest_first;
  }

 private:
  std::atomic<T*> head_ = nullptr;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_MPSC_QUEUE_H_
