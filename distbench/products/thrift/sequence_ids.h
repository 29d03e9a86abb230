// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_SEQUENCE_IDS_H_
#define DISTBENCH_PRODUCTS_THRIFT_SEQUENCE_IDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distbench/protocol/call_table.h"

namespace distbench::thrift {

// The sequence ids of one connection's calls, which have 32 bits, in place of
// the 64 of call ids. An id is used again only after 2^32 others, so that a
// late reply is never taken for another call's. Not thread-safe.
template <typename Owner>
class SequenceIds {
 public:
  using Calls = protocol::CallTable<Owner>;

  // `calls` must outlive this.
  explicit SequenceIds(Calls& calls) : calls_(calls), slots_(kFirstSlots) {}

  // Returns the sequence id of a call that has been added to the table.
  uint32_t Add(uint64_t call_id) {
    while (IsLive(SlotOf(next_))) {
      if (slots_.size() < 2 * calls_.size()) {
        Grow();
      } else {
        ++next_;  // there is a free slot soon
      }
    }
    SlotOf(next_) = {.call_id = call_id, .sequence_id = next_, .is_used = true};
    return next_++;
  }

  // As CallTable::Find().
  typename Calls::Match Find(uint32_t sequence_id,
                             typename Calls::Entry*& entry) {
    const Slot& slot = SlotOf(sequence_id);
    if (slot.is_used && slot.sequence_id == sequence_id) {
      return calls_.Find(slot.call_id, entry);
    }
    // Ids wrap around; half of them count as past.
    const bool is_past = static_cast<int32_t>(sequence_id - next_) < 0;
    return is_past ? Calls::Match::kEnded : Calls::Match::kUnknown;
  }

 private:
  static constexpr size_t kFirstSlots = 128;

  struct Slot {
    uint64_t call_id = 0;
    uint32_t sequence_id = 0;
    bool is_used = false;
  };

  Slot& SlotOf(uint32_t sequence_id) {
    return slots_[sequence_id & (slots_.size() - 1)];
  }

  bool IsLive(const Slot& slot) {
    typename Calls::Entry* entry;
    return slot.is_used &&
           calls_.Find(slot.call_id, entry) == Calls::Match::kFound;
  }

  // Doubles the slots. Ids that had different slots still have.
  void Grow() {
    std::vector<Slot> before(2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (IsLive(slot)) SlotOf(slot.sequence_id) = slot;
    }
  }

  Calls& calls_;
  std::vector<Slot> slots_;  // their number is a power of two
  uint32_t next_ = 0;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_SEQUENCE_IDS_H_
