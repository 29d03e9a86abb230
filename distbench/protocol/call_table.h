// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A client's calls from their start to their end, for drivers that match
// replies by numbers: the calls in flight by their ids and by their deadlines,
// and those that end without a reply.

#ifndef DISTBENCH_PROTOCOL_CALL_TABLE_H_
#define DISTBENCH_PROTOCOL_CALL_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Base class of what has calls in a table, such as a connection.
class CallOwner {
 public:
  size_t calls_in_flight() const { return calls_in_flight_; }

 private:
  template <typename Owner>
  friend class CallTable;

  static constexpr uint32_t kNoCall = std::numeric_limits<uint32_t>::max();

  size_t calls_in_flight_ = 0;
  // Positions of its calls in the table, which are a list.
  uint32_t first_call_ = kNoCall;
  uint32_t last_call_ = kNoCall;
  bool is_retired_ = false;
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
    // The owner's calls that were added before and after this one.
    uint32_t previous = CallOwner::kNoCall;
    uint32_t next = CallOwner::kNoCall;
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
    Link(entry, position, *owner);
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
    Unlink(entry);
    ++entry.generation;
    free_.push_back(PositionOf(entry));
  }

  // Gives the call to another owner.
  void Move(Entry& entry, Owner* owner) {
    Unlink(entry);
    Link(entry, PositionOf(entry), *owner);
  }

  // Calls function(entry) for each call, which may end the call.
  template <typename Function>
  void ForEach(const Function& function) {
    for (Entry& entry : entries_) {
      if (entry.call != nullptr) function(entry);
    }
  }

  // Same for the calls of one owner, in the order in which it got them.
  template <typename Function>
  void ForEachOf(const Owner& owner, const Function& function) {
    uint32_t next = owner.CallOwner::first_call_;
    while (next != CallOwner::kNoCall) {
      Entry& entry = entries_[next];
      next = entry.next;
      function(entry);
    }
  }

  // The owner gets no more calls. TakeIdle() returns it once it has none.
  void Retire(Owner& owner) {
    owner.CallOwner::is_retired_ = true;
    if (owner.calls_in_flight() == 0) idle_.push_back(&owner);
  }

  // Returns the retired owners that have lost their last call since the last
  // time.
  std::vector<Owner*> TakeIdle() { return std::exchange(idle_, {}); }
  bool has_idle() const { return !idle_.empty(); }

  size_t size() const { return entries_.size() - free_.size(); }

 private:
  static uint64_t IdOf(uint32_t position, const Entry& entry) {
    return uint64_t{entry.generation} << 32 | position;
  }
  uint32_t PositionOf(const Entry& entry) const {
    return static_cast<uint32_t>(&entry - entries_.data());
  }

  // Adds the call to the end of the owner's.
  void Link(Entry& entry, uint32_t position, Owner& its_owner) {
    CallOwner& owner = its_owner;
    const uint32_t last = std::exchange(owner.last_call_, position);
    (last == CallOwner::kNoCall ? owner.first_call_ : entries_[last].next) =
        position;
    entry.owner = &its_owner;
    entry.previous = last;
    entry.next = CallOwner::kNoCall;
    ++owner.calls_in_flight_;
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE void Unlink(const Entry& entry) {
    CallOwner& owner = *entry.owner;
    (entry.previous == CallOwner::kNoCall ? owner.first_call_
                                          : entries_[entry.previous].next) =
        entry.next;
    (entry.next == CallOwner::kNoCall ? owner.last_call_
                                      : entries_[entry.next].previous) =
        entry.previous;
    if (--owner.calls_in_flight_ == 0 && owner.is_retired_) [[unlikely]] {
      idle_.push_back(entry.owner);
    }
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  std::vector<Owner*> idle_;
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

// What calls end with on this side.
inline constexpr absl::string_view kCancelled = "CANCELLED: the caller gave up";
inline constexpr absl::string_view kDeadlineExceeded =
    "DEADLINE_EXCEEDED: no answer in time";

// The calls of one worker, with all that ends them but replies: their
// deadlines, cancellation, and the loss of their owners. The engine hears of
// such an end in DeliverEnded(), never before.
//
// Owner is a CallOwner, and has a method Abandon(ClientCall&), which is called
// when this side ends a call in flight, to whose reply nobody will listen. The
// call's transport_state is null after that. Not thread-safe.
template <typename Owner>
class ClientCalls : public CallTable<Owner> {
 public:
  using typename CallTable<Owner>::Entry;
  using typename CallTable<Owner>::Match;

  // Adds a call with its deadline. Returns its id, also as its transport_id.
  uint64_t Start(ClientCall* call, Owner* owner) {
    const uint64_t id = this->Add(call, owner);
    call->transport_id = id;
    if (call->deadline_ns != 0) {
      deadlines_.Add(call->deadline_ns, id, [this](uint64_t other) {
        Entry* entry;
        return this->Find(other, entry) == Match::kFound;
      });
    }
    return id;
  }

  // Ends a call in flight. The text of `reason` lives as long as the program.
  void GiveUp(Entry& entry, absl::string_view reason) {
    ClientCall& call = *entry.call;
    Owner& owner = *entry.owner;
    this->Remove(entry);
    owner.Abandon(call);
    call.transport_state = nullptr;
    ended_.push_back({.call = &call, .reason = reason});
  }

  // Ends a call that is not in the table, or not any more.
  void EndWith(ClientCall* call, std::string error) {
    call->transport_state = nullptr;
    ended_.push_back({.call = call, .reason = {}, .error = std::move(error)});
  }

  // Gives up a call, unless it has ended.
  void Cancel(const ClientCall& call) {
    Entry* const entry = this->EntryOf(call);
    if (entry != nullptr) GiveUp(*entry, kCancelled);
  }
  void CancelAll() {
    this->ForEach([this](Entry& entry) { GiveUp(entry, kCancelled); });
  }

  // Ends the calls of an owner that has lost them. Returns whether there were
  // any.
  bool Lose(const Owner& owner, const std::string& error) {
    if (owner.calls_in_flight() == 0) return false;
    this->ForEachOf(owner, [&](Entry& entry) {
      EndWith(entry.call, error);
      this->Remove(entry);
    });
    return true;
  }

  // The earliest deadline, even of an ended call; DeadlineQueue::kNever if
  // there is none.
  int64_t next_due_ns() const { return deadlines_.next_due_ns(); }

  // Gives up the calls whose deadlines have passed.
  void Expire(int64_t now_ns) {
    while (next_due_ns() <= now_ns) {
      Entry* entry;
      if (this->Find(deadlines_.Pop(), entry) == Match::kFound) {
        GiveUp(*entry, kDeadlineExceeded);
      }
    }
  }

  // Calls on_done(call) for the calls that have ended here. Returns whether
  // there were any. The engine may start calls that end at once; those wait for
  // the next turn.
  template <typename OnDone>
  bool DeliverEnded(const base::Clock& clock, const OnDone& on_done) {
    if (ended_.empty()) return false;
    delivering_.clear();
    delivering_.swap(ended_);
    const int64_t now_ns = clock.MonotonicNs();
    for (const Ended& ended : delivering_) {
      ClientCall* const call = ended.call;
      call->done_ns = now_ns;
      call->received_bytes = 0;
      call->responding_instance = kNoInstance;
      call->error = ended.error.empty() ? ended.reason : ended.error;
      on_done(call);
    }
    return true;
  }

  // Calls of which the engine has not heard that they have ended.
  size_t in_flight() const { return this->size() + ended_.size(); }

  // Forgets the calls that have ended, of which nobody wants to hear.
  void DropEnded() { ended_.clear(); }

 private:
  struct Ended {
    ClientCall* call;
    absl::string_view reason;
    std::string error = {};  // instead of the reason, if it is not empty
  };

  DeadlineQueue deadlines_;
  std::vector<Ended> ended_;
  std::vector<Ended> delivering_;  // keeps its memory
};

// Decides when a transport judges what should have happened by some time, such
// as the replies of calls that have a deadline. A worker that stood still,
// because it was frozen or its host was busy, first reads what has arrived
// meanwhile: otherwise it would blame peers that were in time. It reads until
// nothing is left, but at most for as long as it was late. Not thread-safe.
class LateDeadlines {
 public:
  // Whether to judge what was due at due_ns, which has passed by now_ns.
  // nothing_left: nothing has arrived that was not delivered.
  bool MayJudge(int64_t due_ns, int64_t now_ns, bool nothing_left) {
    const int64_t late_ns = now_ns - due_ns;
    if (reads_until_ns_ == 0) {
      if (late_ns <= kStandstillNs) return true;
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
