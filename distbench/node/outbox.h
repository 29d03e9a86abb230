// What a node has yet to send to the sequencer.

#ifndef DISTBENCH_NODE_OUTBOX_H_
#define DISTBENCH_NODE_OUTBOX_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "proto/control.pb.h"

namespace distbench::node {

// The first message is the one that is being sent; the others wait, in order.
// Progress replaces progress that waits. Not thread-safe.
class Outbox {
 public:
  bool empty() const { return messages_.empty(); }
  const NodeMessage& first() const { return messages_.front(); }

  void Add(NodeMessage message);
  void RemoveFirst() { messages_.pop_front(); }
  void Clear() { messages_.clear(); }

  // Adds progress of a test to the next pong; to none if other progress is
  // added first. Requires that no progress waits for a pong.
  void AddWithPong(int64_t test_id, TrafficProgress progress);
  bool awaits_pong() const { return for_pong_.has_value(); }

 private:
  struct ForPong {
    int64_t test_id;
    TrafficProgress progress;
  };

  std::deque<NodeMessage> messages_;
  std::optional<ForPong> for_pong_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_OUTBOX_H_
