// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/traces/span_tree.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {
namespace {

constexpr int kNoParent = -1;
constexpr int kMissingParent = -2;

// Finds what caused each span, visits spans from their roots, breadth first,
// and cuts circles.
class ForestBuilder {
 public:
  ForestBuilder(std::vector<Span>& spans, ImportNotes& notes) : notes_(notes) {
    for (Span& span : spans) spans_.push_back(&span);
    absl::c_stable_sort(spans_, [](const Span* a, const Span* b) {
      return std::tie(a->start_ns, a->id) < std::tie(b->start_ns, b->id);
    });
    std::erase_if(spans_, [&](const Span* span) {
      const int position = static_cast<int>(positions_.size());
      const Key key = {span->trace, span->id};
      if (positions_.insert({key, position}).second) return false;
      ++notes_["spans with the id of another one were left out"];
      return true;
    });
    children_.resize(spans_.size());
    places_.resize(spans_.size(), kNoParent);
  }

  // By the trace of the first root, in which those of other traces may follow
  // from it.
  std::map<absl::string_view, SpanTree> Build() {
    FindServersOfSharedIds();
    for (size_t i = 0; i < spans_.size(); ++i) {
      parents_.push_back(ParentOf(*spans_[i]));
      if (parents_[i] >= 0) {
        children_[parents_[i]].push_back(static_cast<int>(i));
      } else if (parents_[i] == kMissingParent) {
        ++notes_["spans whose parent is missing begin a tree of their own"];
      }
    }
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (parents_[i] < 0) AddTree(static_cast<int>(i));
    }
    // What is left is in circles, or below them.
    for (size_t i = 0; i < spans_.size(); ++i) {
      if (places_[i] != kNoParent) continue;
      ++notes_["circles of spans that cause one another were cut"];
      parents_[i] = kMissingParent;
      AddTree(static_cast<int>(i));
    }
    return std::move(trees_);
  }

 private:
  // Of a span: the trace, and the id.
  using Key = std::pair<absl::string_view, absl::string_view>;

  // The spans of a trace may be of several files, so readers cannot do this.
  void FindServersOfSharedIds() {
    for (const Span* span : spans_) {
      if (!span->shared_id) continue;
      servers_[{{span->trace, span->parent}, span->service}] = span;
    }
  }

  int PositionOf(const Key& key) const {
    const auto position = positions_.find(key);
    return position == positions_.end() ? kMissingParent : position->second;
  }

  // Leaves the span the link that caused it, if one did.
  int ParentOf(Span& span) const {
    const auto links = std::exchange(span.links, {});
    bool is_missing = !span.parent.empty();
    if (!is_missing || span.kind == SpanKind::kConsumer) {
      for (const auto& link : links) {
        const int position = PositionOf(link);
        if (position >= 0) {
          span.links = {link};
          return position;
        }
        is_missing |= link.first == span.trace;
      }
    }
    if (!is_missing) return kNoParent;
    // What a server did below an id that it shares with its client is its own.
    const Key parent = {span.trace, span.parent};
    const auto server = servers_.find({parent, span.service});
    if (server == servers_.end() || span.shared_id) return PositionOf(parent);
    return PositionOf({span.trace, server->second->id});
  }

  void AddTree(int root) {
    SpanTree& tree = trees_[spans_[root]->trace];
    std::vector<int> order = {root};  // spans in the order of their places
    const size_t first = tree.size();
    Add(root, tree);
    for (size_t next = first; next < tree.size(); ++next) {
      for (const int child : children_[order[next - first]]) {
        if (places_[child] != kNoParent) continue;
        order.push_back(child);
        Add(child, tree);
      }
    }
  }

  void Add(int span, SpanTree& tree) {
    const int place = static_cast<int>(tree.size());
    const int parent = parents_[span];
    places_[span] = place;
    SpanNode& node = tree.emplace_back();
    node.span = spans_[span];
    node.is_fragment = parent == kMissingParent;
    if (parent < 0) return;
    node.parent = places_[parent];
    node.is_async = IsAsync(tree, place);
    tree[node.parent].children.push_back(place);
  }

  static bool IsAsync(const SpanTree& tree, int place) {
    const Span& span = *tree[place].span;
    const Span& cause = *tree[tree[place].parent].span;
    return !span.links.empty() || span.kind == SpanKind::kConsumer ||
           (cause.kind == SpanKind::kProducer && IsServerSide(tree, place));
  }

  ImportNotes& notes_;
  std::vector<Span*> spans_;  // by their starts
  absl::flat_hash_map<Key, int> positions_;
  absl::flat_hash_map<std::pair<Key, absl::string_view>, const Span*> servers_;
  std::vector<int> parents_;                // by span, as the others
  std::vector<std::vector<int>> children_;  // by their starts
  std::vector<int> places_;                 // in their tree
  std::map<absl::string_view, SpanTree> trees_;
};

// Times of traces are in microseconds, some rounded and some cut off.
constexpr int64_t kRoundingNs = 2000;

// Clocks that differ by more than 60 years are none.
constexpr int64_t kMaxShiftNs = 1'900'000'000'000'000'000;

// By how much a server's span may be moved, so that it is within its cause.
struct Room {
  int64_t least_ns;
  int64_t most_ns;
  int64_t likely_ns;
  bool has_client;

  bool Contains(int64_t offset_ns) const {
    return offset_ns >= least_ns - kRoundingNs &&
           offset_ns <= most_ns + kRoundingNs;
  }
};

Room RoomOf(const Span& cause, const Span& span) {
  const int64_t least_ns = cause.start_ns - span.start_ns;
  const int64_t most_ns = cause.end_ns - span.end_ns;
  if (IsClientSide(cause.kind)) {
    return {least_ns, most_ns, least_ns + (most_ns - least_ns) / 2, true};
  }
  // Without a client's span, a late end may mean that nobody waits.
  return {least_ns, std::numeric_limits<int64_t>::max() / 2,
          std::max<int64_t>(0, least_ns), false};
}

// The clocks of the instances of clients and servers.
class Clocks {
 public:
  // Takes what the tree says about them.
  void Learn(const SpanTree& tree) {
    for (const SpanNode& node : tree) {
      if (!IsOfOtherClock(tree, node) || node.is_async) continue;
      const Span& cause = *tree[node.parent].span;
      rooms_[PairOf(cause, *node.span)].push_back(RoomOf(cause, *node.span));
    }
  }

  void FindOffsets(ImportNotes& notes) {
    int64_t pairs = 0;
    int64_t largest_ns = 0;
    for (auto& [pair, rooms] : rooms_) {
      const auto of_clients =
          std::partition(rooms.begin(), rooms.end(),
                         [](const Room& room) { return room.has_client; });
      if (of_clients != rooms.begin()) rooms.erase(of_clients, rooms.end());
      const int64_t offset_ns = OffsetOf(rooms);
      offsets_[pair] = offset_ns;
      pairs += offset_ns != 0;
      largest_ns = std::max(largest_ns, std::abs(offset_ns));
      for (const Room& room : rooms) {
        if (room.Contains(offset_ns)) continue;
        ++notes
            ["spans of servers are not within those that caused them, "
             "whatever the clocks; they were left"];
      }
    }
    if (pairs == 0) return;
    notes[absl::StrFormat(
        "clocks of a client's and a server's instance "
        "differed, by up to %.1f ms in all; what the servers "
        "did was moved",
        static_cast<double>(largest_ns) / 1e6)] = pairs;
  }

  // Moves what was done on other hosts to the clocks of the roots.
  void Correct(SpanTree& tree) const {
    std::vector<int64_t> shifts(tree.size());
    for (size_t i = 0; i < tree.size(); ++i) {
      const SpanNode& node = tree[i];
      if (node.parent < 0) continue;
      shifts[i] = shifts[node.parent];
      if (IsOfOtherClock(tree, node)) {
        const auto offset =
            offsets_.find(PairOf(*tree[node.parent].span, *node.span));
        if (offset == offsets_.end()) continue;
        shifts[i] =
            std::clamp(shifts[i] + offset->second, -kMaxShiftNs, kMaxShiftNs);
      }
    }
    for (size_t i = 0; i < tree.size(); ++i) {
      for (int64_t* time : {&tree[i].span->start_ns, &tree[i].span->end_ns}) {
        *time = std::clamp<int64_t>(*time + shifts[i], 0, kLatestNs);
      }
    }
  }

 private:
  using Instance = std::pair<std::string, std::string>;  // service, instance
  using Pair = std::pair<Instance, Instance>;

  static Pair PairOf(const Span& cause, const Span& span) {
    return {{cause.service, cause.instance}, {span.service, span.instance}};
  }

  static bool IsOfOtherClock(const SpanTree& tree, const SpanNode& node) {
    if (node.parent < 0) return false;
    const auto [cause, own] = PairOf(*tree[node.parent].span, *node.span);
    return cause != own &&
           IsServerSide(tree, static_cast<int>(&node - tree.data()));
  }

  static int64_t OffsetOf(const std::vector<Room>& rooms) {
    std::vector<int64_t> likely;
    for (const Room& room : rooms) likely.push_back(room.likely_ns);
    const auto median = likely.begin() + likely.size() / 2;
    std::nth_element(likely.begin(), median, likely.end());
    const auto fitting = [&](int64_t offset_ns) {
      return std::count_if(rooms.begin(), rooms.end(), [&](const Room& room) {
        return room.Contains(offset_ns);
      });
    };
    return std::abs(*median) <= kMaxShiftNs && fitting(*median) > fitting(0)
               ? *median
               : 0;
  }

  absl::flat_hash_map<Pair, std::vector<Room>> rooms_;
  absl::flat_hash_map<Pair, int64_t> offsets_;
};

}  // namespace

bool IsServerSide(const SpanTree& tree, int position) {
  const SpanNode& node = tree[position];
  const SpanKind kind = node.span->kind;
  if (kind == SpanKind::kServer || kind == SpanKind::kConsumer) return true;
  if (IsClientSide(kind)) return false;
  return node.parent < 0 ||
         tree[node.parent].span->service != node.span->service;
}

std::vector<SpanTree> BuildSpanTrees(std::vector<Span>& spans,
                                     ImportNotes& notes) {
  std::vector<SpanTree> trees;
  Clocks clocks;
  for (auto& [trace, tree] : ForestBuilder(spans, notes).Build()) {
    clocks.Learn(tree);
    trees.push_back(std::move(tree));
  }
  clocks.FindOffsets(notes);
  for (SpanTree& tree : trees) clocks.Correct(tree);
  return trees;
}

}  // namespace distbench::trace_import
