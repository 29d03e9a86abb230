#include "distbench/products/trace_import/traces/span_tree.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {
namespace {

// Times of traces are in microseconds, some rounded and some cut off.
constexpr int64_t kRoundingNs = 2000;

constexpr int kNoParent = -1;
constexpr int kMissingParent = -2;

// The spans of a trace in the order of their starts, and their parents.
struct Parents {
  std::vector<Span*> spans;
  std::vector<int> parents;
};

std::vector<Span*> WithoutDuplicates(absl::Span<Span> spans,
                                     ImportNotes& notes) {
  std::vector<Span*> sorted;
  for (Span& span : spans) sorted.push_back(&span);
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const Span* a, const Span* b) {
        return std::tie(a->start_ns, a->id) < std::tie(b->start_ns, b->id);
      });
  absl::flat_hash_map<std::string, int> seen;
  std::erase_if(sorted, [&](const Span* span) {
    if (seen[span->id]++ == 0) return false;
    ++notes["spans with the id of another one were left out"];
    return true;
  });
  return sorted;
}

// Puts what a server did below its span, if that had the id of its client's.
// The spans of a trace may be of several files, so readers cannot do this.
void MoveBelowServers(const std::vector<Span*>& spans) {
  absl::flat_hash_map<std::pair<std::string, std::string>, const Span*> servers;
  for (const Span* span : spans) {
    if (span->shared_id) servers[{span->parent, span->service}] = span;
  }
  if (servers.empty()) return;
  for (Span* span : spans) {
    const auto server = servers.find({span->parent, span->service});
    if (server == servers.end() || span->shared_id) continue;
    span->parent = server->second->id;
  }
}

Parents FindParents(absl::Span<Span> spans, ImportNotes& notes) {
  Parents result = {.spans = WithoutDuplicates(spans, notes)};
  MoveBelowServers(result.spans);
  absl::flat_hash_map<std::string, int> positions;
  for (size_t i = 0; i < result.spans.size(); ++i) {
    positions[result.spans[i]->id] = static_cast<int>(i);
  }
  for (const Span* span : result.spans) {
    const auto parent = positions.find(span->parent);
    if (span->parent.empty()) {
      result.parents.push_back(kNoParent);
    } else if (parent != positions.end()) {
      result.parents.push_back(parent->second);
    } else {
      ++notes["spans whose parent is missing begin a tree of their own"];
      result.parents.push_back(kMissingParent);
    }
  }
  return result;
}

// Visits spans from their roots, breadth first, and cuts circles.
class TreeBuilder {
 public:
  TreeBuilder(Parents parents, ImportNotes& notes)
      : parents_(std::move(parents)),
        notes_(notes),
        children_(parents_.spans.size()),
        places_(parents_.spans.size(), kNoParent) {
    for (size_t i = 0; i < parents_.parents.size(); ++i) {
      const int parent = parents_.parents[i];
      if (parent >= 0) children_[parent].push_back(static_cast<int>(i));
    }
  }

  std::vector<SpanNode> Build() {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (parents_.parents[i] < 0) AddTree(static_cast<int>(i));
    }
    // What is left is in circles, or below them.
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] != kNoParent) continue;
      ++notes_["circles of spans that cause one another were cut"];
      parents_.parents[i] = kMissingParent;
      AddTree(static_cast<int>(i));
    }
    return std::move(tree_);
  }

 private:
  void AddTree(int root) {
    size_t next = tree_.size();
    Add(root);
    for (; next < tree_.size(); ++next) {
      for (const int child : children_[order_[next]]) {
        if (places_[child] == kNoParent) Add(child);
      }
    }
  }

  void Add(int span) {
    const int place = static_cast<int>(tree_.size());
    const int parent = parents_.parents[span];
    SpanNode node = {.span = parents_.spans[span]};
    if (parent >= 0) {
      node.parent = places_[parent];
      tree_[node.parent].children.push_back(place);
    }
    node.is_fragment = parent == kMissingParent;
    tree_.push_back(std::move(node));
    order_.push_back(span);
    places_[span] = place;
  }

  Parents parents_;
  ImportNotes& notes_;
  std::vector<std::vector<int>> children_;
  std::vector<int> places_;  // in tree_, by span
  std::vector<int> order_;   // spans by place
  std::vector<SpanNode> tree_;
};

// How far a server's span is to be moved, so that it is within its cause.
int64_t ClockShiftNs(const Span& cause, const Span& span) {
  if (span.start_ns >= cause.start_ns - kRoundingNs &&
      span.end_ns <= cause.end_ns + kRoundingNs) {
    return 0;
  }
  const int64_t room_ns =
      (cause.end_ns - cause.start_ns) - (span.end_ns - span.start_ns);
  if (cause.kind == SpanKind::kClient) {
    return cause.start_ns + std::max<int64_t>(0, room_ns / 2) - span.start_ns;
  }
  // Without a client's span, a late end may mean that nobody waits.
  return std::max<int64_t>(0, cause.start_ns - span.start_ns);
}

void RepairClocks(std::vector<SpanNode>& tree, ImportNotes& notes) {
  std::vector<int64_t> shifts(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].parent < 0) continue;
    Span& span = *tree[i].span;
    const Span& cause = *tree[tree[i].parent].span;
    if (span.service == cause.service) {
      shifts[i] = shifts[tree[i].parent];
    } else if (IsServerSide(tree, static_cast<int>(i))) {
      shifts[i] = ClockShiftNs(cause, span);
      if (shifts[i] != 0) {
        ++notes["spans of servers were moved because clocks differ"];
      }
    }
    span.start_ns += shifts[i];
    span.end_ns += shifts[i];
  }
}

}  // namespace

bool IsServerSide(const std::vector<SpanNode>& tree, int position) {
  const SpanNode& node = tree[position];
  if (node.span->kind == SpanKind::kServer) return true;
  if (node.span->kind == SpanKind::kClient) return false;
  return node.parent < 0 ||
         tree[node.parent].span->service != node.span->service;
}

std::vector<SpanNode> BuildSpanTree(absl::Span<Span> spans,
                                    ImportNotes& notes) {
  std::vector<SpanNode> tree =
      TreeBuilder(FindParents(spans, notes), notes).Build();
  RepairClocks(tree, notes);
  return tree;
}

}  // namespace distbench::trace_import
