// A client's calls in flight, by their ids and by their deadlines.

#ifndef DISTBENCH_PROTOCOL_CALL_TABLE_H_
#define DISTBENCH_PROTOCOL_CALL_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/base/attributes.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Base class of what has calls in a table, such as a connection.
class CallOwner {
 public:
  size_t calls_in_flight() const { return calls_in_flight_; }

 private:
  template <typename Owner>
  friend class CallTable;

  size_t calls_in_flight_ = 0;
};

// The calls in flight by their ids on the wire. An id consists of a position in
// the table and the number of earlier calls at that position. So finding a call
// takes one look-up, and a reply to a call that has ended can be told from a
// reply to a call that was never made. An Owner is a CallOwner. Not
// thread-safe.
template <typename Owner>
class CallTable {
 public:
  // The result of looking up an id.
  enum class Match { kFound, kEnded, kUnknown };

  struct Entry {
    ClientCall* call = nullptr;  // null: free
    Owner* owner = nullptr;
    uint32_t generation = 0;
  };

  // Returns the call's id.
  uint64_t Add(ClientCall* call, Owner* owner) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const uint32_t position = free_.back();
    free_.pop_back();
    Entry& entry = entries_[position];
    entry.call = call;
    entry.owner = owner;
    ++owner->CallOwner::calls_in_flight_;
    return IdOf(position, entry);
  }

  // With kFound, sets `entry` to the call's entry, which is valid until the
  // next Add().
  Match Find(uint64_t id, Entry*& entry) {
    const auto position = static_cast<uint32_t>(id);
    const auto generation = static_cast<uint32_t>(id >> 32);
    if (position >= entries_.size()) return Match::kUnknown;
    entry = &entries_[position];
    if (entry->call != nullptr && entry->generation == generation) {
      return Match::kFound;
    }
    // Generations wrap around; half of them count as past.
    const bool is_past =
        static_cast<int32_t>(generation - entry->generation) < 0;
    return is_past ? Match::kEnded : Match::kUnknown;
  }

  // Returns the entry of a call whose transport_id is its id, or null if the
  // call has ended, even if its memory is in use for another one.
  Entry* EntryOf(const ClientCall& call) {
    Entry* entry;
    const bool is_found = Find(call.transport_id, entry) == Match::kFound;
    return is_found && entry->call == &call ? entry : nullptr;
  }

  // Ends the call. The next call reuses its position. Inline because each reply
  // ends a call, in one of several loops: 0.95 instead of 0.94 of the rate of
  // bench/bare_tcp.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Remove(Entry& entry) {
    entry.call = nullptr;
    --entry.owner->CallOwner::calls_in_flight_;
    ++entry.generation;
    free_.push_back(static_cast<uint32_t>(&entry - entries_.data()));
  }

  // Gives the call to another owner.
  void Move(Entry& entry, Owner* owner) {
    --entry.owner->CallOwner::calls_in_flight_;
    ++owner->CallOwner::calls_in_flight_;
    entry.owner = owner;
  }

  // Removes all calls for which `remove(entry)` holds.
  template <typename Predicate>
  void RemoveIf(const Predicate& remove) {
    for (Entry& entry : entries_) {
      if (entry.call != nullptr && remove(entry)) Remove(entry);
    }
  }

  size_t size() const { return entries_.size() - free_.size(); }

 private:
  static uint64_t IdOf(uint32_t position, const Entry& entry) {
    return uint64_t{entry.generation} << 32 | position;
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

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

// Decides when a transport judges what should have happened by some time, such
// as the replies of calls that have a deadline. A worker that stood still,
// because it was frozen or its host was busy, first reads what has arrived
// meanwhile: otherwise it would blame peers that were in time. It reads until
// nothing is left, but at most for as long as it was late. Not thread-safe.
class LateDeadlines {
 public:
  // Less is no standstill: a turn of a busy worker.
  static constexpr int64_t kLateNs = 5'000'000;

  // Whether to judge what was due at due_ns, which has passed by now_ns.
  // nothing_left: nothing has arrived that was not delivered.
  bool MayJudge(int64_t due_ns, int64_t now_ns, bool nothing_left) {
    const int64_t late_ns = now_ns - due_ns;
    if (reads_until_ns_ == 0) {
      if (late_ns <= kLateNs) return true;
      reads_until_ns_ = now_ns + late_ns;
      return false;
    }
    if (!nothing_left && now_ns < reads_until_ns_) return false;
    reads_until_ns_ = 0;
    return true;
  }

 private:
  int64_t reads_until_ns_ = 0;  // 0: it was not late
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_CALL_TABLE_H_
