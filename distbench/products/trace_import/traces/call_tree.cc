#include "distbench/products/trace_import/traces/call_tree.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::trace_import {
namespace {

constexpr char kUnknownService[] = "unknown_service";

std::string NameOrUnknown(const std::string& service) {
  return service.empty() ? kUnknownService : service;
}

// From the spans of a trace to its calls.
class CallBuilder {
 public:
  explicit CallBuilder(const std::vector<SpanNode>& tree)
      : tree_(tree), calls_of_(tree.size()) {}

  Trace Build() {
    for (size_t i = 0; i < tree_.size(); ++i) {
      calls_of_[i] = CallOf(static_cast<int>(i));
    }
    for (TracedCall& call : calls_) {
      std::sort(call.children.begin(), call.children.end(), [&](int a, int b) {
        return std::tie(calls_[a].start_ns, a) <
               std::tie(calls_[b].start_ns, b);
      });
    }
    MarkArrivals();
    for (size_t i = 0; i < calls_.size(); ++i) MeasureSelfTime(i);
    return std::move(calls_);
  }

 private:
  // The call that the span is a part of, which may begin with it.
  int CallOf(int position) {
    const SpanNode& node = tree_[position];
    const int around = node.parent < 0 ? -1 : calls_of_[node.parent];
    if (node.span->kind == SpanKind::kClient) {
      if (!IsWrapper(node)) return AddClient(node, around);
      return around >= 0 ? around : AddServed(node, around);
    }
    if (!IsServerSide(tree_, position)) return around;
    const bool is_answer =
        around >= 0 && tree_[node.parent].span->kind == SpanKind::kClient;
    if (is_answer && !calls_[around].has_server_span()) {
      SetServer(*node.span, calls_[around]);
      return around;
    }
    // A client with several servers called each.
    return AddServed(node, is_answer ? calls_[around].parent : around);
  }

  // A client's span around others of the same service, such as one of a
  // database's client around the HTTP that it uses.
  bool IsWrapper(const SpanNode& node) const {
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](int child) {
                         return tree_[child].span->kind == SpanKind::kClient &&
                                tree_[child].span->service ==
                                    node.span->service;
                       }) &&
           std::none_of(node.children.begin(), node.children.end(),
                        [&](int child) { return IsServerSide(tree_, child); });
  }

  // Whether the span of a client has another service than that which caused it.
  // If a client's span has caused it, the server in between is missing.
  bool HasServersName(const SpanNode& node) const {
    if (node.parent < 0 || node.span->service.empty()) return false;
    const Span& cause = *tree_[node.parent].span;
    return cause.kind != SpanKind::kClient && !cause.service.empty() &&
           cause.service != node.span->service;
  }

  int AddClient(const SpanNode& node, int parent) {
    const Span& span = *node.span;
    TracedCall& call = Add(node, parent);
    call.client = NameOrUnknown(span.service);
    call.server = span.peer;
    // Work that the client's span caused in another service was the server's.
    for (const int child : node.children) {
      const std::string& service = tree_[child].span->service;
      if (service != span.service) call.server = service;
    }
    if (call.server.empty() && HasServersName(node)) {
      call.client = tree_[node.parent].span->service;
      call.server = span.service;
      call.server_is_inferred = true;
    }
    call.server = NameOrUnknown(call.server);
    return static_cast<int>(calls_.size()) - 1;
  }

  int AddServed(const SpanNode& node, int parent) {
    TracedCall& call = Add(node, parent);
    if (parent >= 0) call.client = calls_[parent].server;
    SetServer(*node.span, call);
    return static_cast<int>(calls_.size()) - 1;
  }

  TracedCall& Add(const SpanNode& node, int parent) {
    const Span& span = *node.span;
    const int position = static_cast<int>(calls_.size());
    TracedCall call;
    call.operation = span.operation;
    call.parent = parent;
    call.start_ns = span.start_ns;
    call.end_ns = span.end_ns;
    call.request_bytes = span.request_bytes;
    call.response_bytes = span.response_bytes;
    call.failed = span.failed;
    call.is_arrival = parent < 0 && !node.is_fragment;
    calls_.push_back(std::move(call));
    served_.push_back({span.start_ns, span.end_ns});
    if (parent >= 0) calls_[parent].children.push_back(position);
    return calls_.back();
  }

  void SetServer(const Span& span, TracedCall& call) {
    call.server = NameOrUnknown(span.service);
    call.server_is_inferred = false;
    call.operation = span.operation;
    call.server_ns = span.end_ns - span.start_ns;
    call.request_bytes = std::max(call.request_bytes, span.request_bytes);
    call.response_bytes = std::max(call.response_bytes, span.response_bytes);
    call.failed |= span.failed;
    served_[&call - calls_.data()] = {span.start_ns, span.end_ns};
  }

  void MarkArrivals() {
    TracedCall* first = nullptr;
    for (TracedCall& call : calls_) {
      if (call.is_arrival) return;
      if (call.parent >= 0) continue;
      if (first == nullptr || call.start_ns < first->start_ns) first = &call;
    }
    if (first != nullptr) first->is_arrival = true;
  }

  // The time of the server, without the times in which it has called others.
  void MeasureSelfTime(size_t position) {
    auto [free_ns, end_ns] = served_[position];
    int64_t self_ns = 0;
    for (const int child : calls_[position].children) {
      const int64_t start_ns = std::min(calls_[child].start_ns, end_ns);
      self_ns += std::max<int64_t>(0, start_ns - free_ns);
      free_ns = std::max(free_ns, std::min(calls_[child].end_ns, end_ns));
    }
    calls_[position].self_ns = self_ns + end_ns - free_ns;
  }

  struct Interval {
    int64_t start_ns;
    int64_t end_ns;
  };

  const std::vector<SpanNode>& tree_;
  std::vector<int> calls_of_;     // by span; -1: none
  std::vector<Interval> served_;  // by call, at the server if known
  Trace calls_;
};

}  // namespace

TraceSet BuildTraces(SpanSet set) {
  TraceSet result;
  result.notes = std::move(set.notes);
  for (const Span& span : set.spans) {
    if (!span.instance.empty()) {
      result.instances[NameOrUnknown(span.service)].insert(span.instance);
    }
  }
  std::stable_sort(
      set.spans.begin(), set.spans.end(),
      [](const Span& a, const Span& b) { return a.trace < b.trace; });
  for (size_t begin = 0; begin < set.spans.size();) {
    size_t end = begin + 1;
    while (end < set.spans.size() &&
           set.spans[end].trace == set.spans[begin].trace) {
      ++end;
    }
    const std::vector<SpanNode> tree = BuildSpanTree(
        absl::MakeSpan(&set.spans[begin], end - begin), result.notes);
    Trace trace = CallBuilder(tree).Build();
    if (!trace.empty()) result.traces.push_back(std::move(trace));
    begin = end;
  }
  return result;
}

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
