#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_LINK_TABLE_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_LINK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distbench::libfabric {

// The links of one worker by their numbers on the wire. A number consists of a
// position in the table and the number of earlier links there, so that a
// message for a link that has ended is not taken for another's. Not
// thread-safe.
template <typename Link>
class LinkTable {
 public:
  // Returns the link's number, which is not 0 and below 2^56.
  uint64_t Add(Link* link) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const uint32_t position = free_.back();
    free_.pop_back();
    entries_[position].link = link;
    return IdOf(position);
  }

  // Returns null if there is no such link, or no more. Any number is allowed.
  Link* Find(uint64_t id) const {
    const auto position = static_cast<uint32_t>(id);
    if (position >= entries_.size() || id != IdOf(position)) return nullptr;
    return entries_[position].link;
  }

  // Requires that there is such a link.
  void Remove(uint64_t id) {
    const auto position = static_cast<uint32_t>(id);
    entries_[position].link = nullptr;
    ++entries_[position].generation;
    free_.push_back(position);
  }

  // Calls function(link) for each link, which may remove links and add some.
  template <typename Function>
  void ForEach(const Function& function) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].link != nullptr) function(*entries_[i].link);
    }
  }

 private:
  struct Entry {
    Link* link = nullptr;
    uint32_t generation = 1;
  };

  // The generations that a number tells apart; 0 is none of them.
  static constexpr uint32_t kGenerations = (1 << 24) - 1;

  uint64_t IdOf(uint32_t position) const {
    const uint64_t generation = entries_[position].generation % kGenerations;
    return (generation + 1) << 32 | position;
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_LINK_TABLE_H_
