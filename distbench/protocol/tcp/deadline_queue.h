#ifndef DISTBENCH_PROTOCOL_TCP_DEADLINE_QUEUE_H_
#define DISTBENCH_PROTOCOL_TCP_DEADLINE_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace distbench {

// The deadlines of calls by id. Deadlines of ended calls stay for a while, so
// that ending a call costs nothing. Not thread-safe.
class DeadlineQueue {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // is_live(call_id) is called when many calls have ended; deadlines for which
  // it returns false are dropped.
  template <typename IsLive>
  void Add(int64_t due_ns, uint64_t call_id, const IsLive& is_live) {
    if (heap_.size() >= limit_) Prune(is_live);
    heap_.push_back({due_ns, call_id});
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }

  // The earliest deadline, even of an ended call; kNever if there is none.
  int64_t next_due_ns() const {
    return heap_.empty() ? kNever : heap_.front().due_ns;
  }

  // Requires that there is a deadline. Returns the call's id.
  uint64_t Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const uint64_t call_id = heap_.back().call_id;
    heap_.pop_back();
    return call_id;
  }

 private:
  static constexpr size_t kFirstLimit = 1024;

  struct Deadline {
    int64_t due_ns;
    uint64_t call_id;
  };

  static bool Later(const Deadline& a, const Deadline& b) {
    return a.due_ns > b.due_ns;
  }

  // The limit becomes twice the remaining number, so a deadline costs constant
  // time on average.
  template <typename IsLive>
  void Prune(const IsLive& is_live) {
    heap_.erase(std::remove_if(heap_.begin(), heap_.end(),
                               [&](const Deadline& deadline) {
                                 return !is_live(deadline.call_id);
                               }),
                heap_.end());
    std::make_heap(heap_.begin(), heap_.end(), Later);
    limit_ = std::max(kFirstLimit, 2 * heap_.size());
  }

  std::vector<Deadline> heap_;
  size_t limit_ = kFirstLimit;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_DEADLINE_QUEUE_H_
