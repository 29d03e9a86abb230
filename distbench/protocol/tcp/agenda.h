// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_AGENDA_H_
#define DISTBENCH_PROTOCOL_TCP_AGENDA_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace distbench::protocol {

// Base class of what can be on an agenda, such as a connection.
class AgendaItem {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

 private:
  template <typename Item>
  friend class Agenda;

  int64_t due_ns_ = kNever;  // on its agenda; kNever: it is not there
};

// When something has to be done for each of many items, at one time for each.
// Looking at the earliest costs the same however many there are. An Item is an
// AgendaItem, on one agenda only; it must leave before it is destroyed. Times
// are monotonic. Not thread-safe.
template <typename Item>
class Agenda {
 public:
  static constexpr int64_t kNever = AgendaItem::kNever;

  // Something is due at this time, in place of an earlier one; kNever: nothing.
  void Set(Item& item, int64_t due_ns) {
    int64_t& before_ns = item.AgendaItem::due_ns_;
    if (before_ns == due_ns) return;
    if (before_ns != kNever) times_.erase({before_ns, &item});
    if (due_ns != kNever) times_.emplace(due_ns, &item);
    before_ns = due_ns;
    next_due_ns_ = times_.empty() ? kNever : times_.begin()->first;
  }
  void Remove(Item& item) { Set(item, kNever); }

  // The earliest time, or kNever.
  int64_t next_due_ns() const { return next_due_ns_; }

  // The most items to which one Work() gets: thousands may be due together,
  // such as connections to be made anew, each with some system calls.
  static constexpr size_t kMaxAtOnce = 64;

  // Calls Work(now_ns) of items that are due, the earliest first. Each then
  // says by next_due_ns() when it is due again.
  void Work(int64_t now_ns) {
    std::vector<Item*> due;
    while (due.size() < kMaxAtOnce && next_due_ns_ <= now_ns) {
      due.push_back(times_.begin()->second);
      Remove(*due.back());
    }
    for (Item* item : due) {
      item->Work(now_ns);
      Set(*item, item->next_due_ns());
    }
  }

 private:
  std::set<std::pair<int64_t, Item*>> times_;
  int64_t next_due_ns_ = kNever;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_AGENDA_H_
