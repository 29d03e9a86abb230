// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_STRANGERS_H_
#define DISTBENCH_PROTOCOL_TCP_STRANGERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "distbench/base/linked_queue.h"
#include "distbench/protocol/tcp/settings.h"

namespace distbench::protocol {

// Base class of what can be among the strangers.
class StrangerItem {
 private:
  template <typename Connection>
  friend class Strangers;
  friend class base::LinkedQueue<StrangerItem>;

  bool is_stranger_ = false;
  int64_t heard_ns_ = 0;
  StrangerItem* previous = nullptr;
  StrangerItem* next = nullptr;
};

// The connections of a server's worker whose clients have not shown that they
// know the test: those of another program, of an attacker, and all that are
// new. Everything costs the same however many there are. A Connection is a
// StrangerItem, and must leave before it is destroyed. Times are monotonic. Not
// thread-safe.
template <typename Connection>
class Strangers {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  explicit Strangers(const StrangerLimits& limits) : limits_(limits) {}

  // Whether another one is one too many.
  bool is_full() const { return count_ >= limits_.connections; }

  // Requires that it is not there.
  void Add(Connection& connection, int64_t now_ns) {
    StrangerItem& item = connection;
    item.is_stranger_ = true;
    ++count_;
    Append(item, now_ns);
  }

  // The connection is in use. It may have left before: what was read with its
  // last bytes is still delivered.
  void NoteHeard(Connection& connection, int64_t now_ns) {
    StrangerItem& item = connection;
    if (!item.is_stranger_) return;
    queue_.Remove(item);
    Append(item, now_ns);
  }

  // Likewise.
  void Remove(Connection& connection) {
    StrangerItem& item = connection;
    if (!item.is_stranger_) return;
    item.is_stranger_ = false;
    --count_;
    queue_.Remove(item);
    UpdateDue();
  }

  // The one that was heard longest ago, or null.
  Connection* Quietest() const {
    return static_cast<Connection*>(queue_.front());
  }

  // When that has been silent for too long, or kNever.
  int64_t next_due_ns() const { return next_due_ns_; }

 private:
  void Append(StrangerItem& item, int64_t now_ns) {
    item.heard_ns_ = now_ns;
    queue_.Push(item);
    UpdateDue();
  }

  void UpdateDue() {
    const StrangerItem* const first = queue_.front();
    next_due_ns_ =
        first == nullptr ? kNever : first->heard_ns_ + limits_.silence_ns;
  }

  const StrangerLimits limits_;
  base::LinkedQueue<StrangerItem> queue_;  // those heard longest ago first
  size_t count_ = 0;
  int64_t next_due_ns_ = kNever;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STRANGERS_H_
