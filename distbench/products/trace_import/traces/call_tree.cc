// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/traces/call_tree.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {
namespace {

constexpr char kUnknownService[] = "unknown_service";

// ---- Trees of spans ---------------------------------------------------------

struct SpanNode {
  Span* span = nullptr;
  SpanNode* cause = nullptr;
  std::vector<SpanNode*> effects;  // in the order of their starts
  bool is_fragment = false;        // its cause is missing
  bool is_placed = false;          // has its place in a tree
  int64_t move_ns = 0;             // from its clock to that of the root

  // The call that the span is a part of, and whether the span is not the
  // beginning of it, and the call does not wait for it.
  TracedCall* call = nullptr;
  bool is_aside = false;

  // Whether the span is of the server of an RPC: by its kind, or because the
  // work is of another service than the work that caused it.
  bool IsServerSide() const {
    if (span->kind == SpanKind::kServer || span->kind == SpanKind::kConsumer) {
      return true;
    }
    if (IsClientSide(span->kind)) return false;
    return cause == nullptr || cause->span->service != span->service;
  }

  // Whether what caused it does not wait for it: it follows from a link, or is
  // of the consumer of a message.
  bool IsAsync() const {
    return cause != nullptr &&
           (!span->links.empty() || span->kind == SpanKind::kConsumer ||
            (cause->span->kind == SpanKind::kProducer && IsServerSide()));
  }
};

// Causes before their effects.
using Forest = std::vector<SpanNode*>;

// Finds what caused each span, and cuts circles.
class ForestBuilder {
 public:
  // Sorts the spans by their starts.
  ForestBuilder(std::vector<Span>& spans, ImportNotes& notes) : notes_(notes) {
    absl::c_stable_sort(spans, [](const Span& a, const Span& b) {
      return std::tie(a.start_ns, a.id) < std::tie(b.start_ns, b.id);
    });
    for (Span& span : spans) {
      const auto [node, is_new] = by_id_.try_emplace({span.trace, span.id});
      if (is_new) {
        node->second = &nodes_.emplace_back();
        node->second->span = &span;
      } else {
        ++notes_["spans with the id of another one were left out"];
      }
    }
  }

  // Its nodes are this object's.
  Forest Build() {
    for (SpanNode& node : nodes_) {
      node.cause = CauseOf(node);
      if (node.cause != nullptr) node.cause->effects.push_back(&node);
      if (!node.is_fragment) continue;
      ++notes_["spans whose parent is missing begin a tree of their own"];
    }
    Forest forest;
    for (SpanNode& node : nodes_) {
      if (node.cause == nullptr) AddTree(node, forest);
    }
    // What is left is in circles, or below them.
    for (SpanNode& node : nodes_) {
      if (node.is_placed) continue;
      ++notes_["circles of spans that cause one another were cut"];
      node.cause = nullptr;
      node.is_fragment = true;
      AddTree(node, forest);
    }
    // Of those that were cut. All at once: many may be of one cause.
    for (SpanNode& node : nodes_) {
      std::erase_if(node.effects, [&](const SpanNode* effect) {
        return effect->cause != &node;
      });
    }
    return forest;
  }

 private:
  SpanNode* Find(absl::string_view trace, absl::string_view id) const {
    const auto found = by_id_.find({trace, id});
    return found == by_id_.end() ? nullptr : found->second;
  }

  // Null: none, or it is missing. Leaves the span the link that caused it, if
  // one did.
  SpanNode* CauseOf(SpanNode& node) const {
    Span& span = *node.span;
    const auto links = std::exchange(span.links, {});
    if (span.parent.empty() || span.kind == SpanKind::kConsumer) {
      for (const auto& link : links) {
        SpanNode* const cause = Find(link.first, link.second);
        if (cause == nullptr) continue;
        span.links = {link};
        return cause;
      }
    }
    SpanNode* const parent = ParentOf(span);
    node.is_fragment =
        parent == nullptr &&
        (!span.parent.empty() || absl::c_any_of(links, [&](const auto& link) {
          return link.first == span.trace;
        }));
    return parent;
  }

  // What a server did below an id that it shares with its client is its own.
  // The spans of a trace may be of several files, so readers cannot know.
  SpanNode* ParentOf(const Span& span) const {
    SpanNode* const server = Find(span.trace, IdOfServer(span.parent));
    const bool is_of_server = server != nullptr && server->span->shared_id &&
                              server->span->service == span.service &&
                              !span.shared_id;
    return is_of_server ? server : Find(span.trace, span.parent);
  }

  // Breadth first. Leaves out effects that were cut from their causes.
  static void AddTree(SpanNode& root, Forest& forest) {
    size_t next = forest.size();
    forest.push_back(&root);
    for (; next < forest.size(); ++next) {
      SpanNode& node = *forest[next];
      node.is_placed = true;
      absl::c_copy_if(
          node.effects, std::back_inserter(forest),
          [&](const SpanNode* effect) { return effect->cause == &node; });
    }
  }

  ImportNotes& notes_;
  std::deque<SpanNode> nodes_;  // by their starts
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>,
                      SpanNode*>
      by_id_;  // trace and id
};

// ---- Clocks -----------------------------------------------------------------

// Times of traces are in microseconds, some rounded and some cut off.
constexpr int64_t kRoundingNs = 2000;

// Clocks that differ by more than 60 years are none.
constexpr int64_t kMaxShiftNs = 1'900'000'000'000'000'000;

// Whether the server's span is within its cause if it is moved. Without a
// client's span, a late end may mean that nobody waits.
bool IsWithin(const SpanNode& node, int64_t move_ns) {
  const Span& cause = *node.cause->span;
  return node.span->start_ns + move_ns >= cause.start_ns - kRoundingNs &&
         (!IsClientSide(cause.kind) ||
          node.span->end_ns + move_ns <= cause.end_ns + kRoundingNs);
}

// By how much a single span would be moved.
int64_t LikelyMove(const SpanNode& node) {
  const Span& cause = *node.cause->span;
  const Span& span = *node.span;
  const int64_t move_ns = cause.start_ns - span.start_ns;
  return IsClientSide(cause.kind)
             ? move_ns + (cause.end_ns - span.end_ns - move_ns) / 2
             : std::max<int64_t>(0, move_ns);
}

// By how much the clocks of these differ; 0 if that puts no more of them into
// their causes.
int64_t OffsetOf(const std::vector<const SpanNode*>& nodes) {
  std::vector<int64_t> moves;
  for (const SpanNode* node : nodes) moves.push_back(LikelyMove(*node));
  const auto median = moves.begin() + moves.size() / 2;
  absl::c_nth_element(moves, median);
  const auto fitting = [&](int64_t move_ns) {
    return absl::c_count_if(
        nodes, [&](const SpanNode* node) { return IsWithin(*node, move_ns); });
  };
  return std::abs(*median) <= kMaxShiftNs && fitting(*median) > fitting(0)
             ? *median
             : 0;
}

// The instances of what caused a span, and of the span: service, instance.
using Instance = std::pair<absl::string_view, absl::string_view>;
using Instances = std::pair<Instance, Instance>;

// None if both have the same clock.
std::optional<Instances> DifferentClocks(const SpanNode& node) {
  if (node.cause == nullptr || !node.IsServerSide()) return std::nullopt;
  const Span& cause = *node.cause->span;
  const Instances pair = {{cause.service, cause.instance},
                          {node.span->service, node.span->instance}};
  if (pair.first == pair.second) return std::nullopt;
  return pair;
}

using Offsets = absl::flat_hash_map<Instances, int64_t>;

// Without those of 0.
Offsets FindOffsets(const Forest& forest, ImportNotes& notes) {
  absl::flat_hash_map<Instances, std::vector<const SpanNode*>> nodes;
  for (const SpanNode* node : forest) {
    const auto pair = DifferentClocks(*node);
    if (pair && !node->IsAsync()) nodes[*pair].push_back(node);
  }
  Offsets offsets;
  int64_t largest_ns = 0;
  for (auto& [pair, of_pair] : nodes) {
    const auto has_client = [](const SpanNode* node) {
      return IsClientSide(node->cause->span->kind);
    };
    if (absl::c_any_of(of_pair, has_client)) {
      std::erase_if(of_pair, std::not_fn(has_client));
    }
    const int64_t offset_ns = OffsetOf(of_pair);
    if (offset_ns != 0) offsets[pair] = offset_ns;
    largest_ns = std::max(largest_ns, std::abs(offset_ns));
    for (const SpanNode* node : of_pair) {
      if (IsWithin(*node, offset_ns)) continue;
      ++notes
          ["spans of servers are not within those that caused them, whatever "
           "the clocks; they were left"];
    }
  }
  if (offsets.empty()) return offsets;
  notes[absl::StrFormat(
      "clocks of a client's and a server's instance differed, by up to %.1f "
      "ms in all; what the servers did was moved",
      static_cast<double>(largest_ns) / 1e6)] =
      static_cast<int64_t>(offsets.size());
  return offsets;
}

// Moves what was done on other hosts to the clocks of the roots.
void CorrectClocks(const Forest& forest, const Offsets& offsets) {
  for (SpanNode* node : forest) {
    if (node->cause != nullptr) node->move_ns = node->cause->move_ns;
    const auto pair = DifferentClocks(*node);
    if (pair && offsets.contains(*pair)) {
      node->move_ns = std::clamp(node->move_ns + offsets.at(*pair),
                                 -kMaxShiftNs, kMaxShiftNs);
    }
    for (int64_t* time : {&node->span->start_ns, &node->span->end_ns}) {
      *time = std::clamp<int64_t>(*time + node->move_ns, 0, kLatestNs);
    }
  }
}

// ---- Calls ------------------------------------------------------------------

// A client's span around others of the same service, such as one of a
// database's client around the HTTP that it uses.
bool IsWrapper(const SpanNode& client) {
  bool has_client = false;
  for (const SpanNode* effect : client.effects) {
    if (effect->IsServerSide()) return false;
    has_client |= IsClientSide(effect->span->kind) && !effect->IsAsync() &&
                  effect->span->service == client.span->service;
  }
  return has_client;
}

// Whether the span of a client has another service than that which caused it.
// If a client's span has caused it, the server in between is missing.
bool HasServersName(const SpanNode& client) {
  if (client.cause == nullptr) return false;
  const Span& cause = *client.cause->span;
  return !IsClientSide(cause.kind) && cause.service != client.span->service &&
         cause.service != kUnknownService &&
         client.span->service != kUnknownService;
}

// From the spans of all traces to their calls.
class CallBuilder {
 public:
  explicit CallBuilder(TraceSet& set) : set_(set) {}

  void Build(const Forest& forest) {
    for (SpanNode* node : forest) {
      node->is_aside =
          node->IsAsync() || (node->cause != nullptr && node->cause->is_aside);
      node->call = CallOf(*node);
    }
    for (TracedCall& call : set_.calls) {
      absl::c_stable_sort(call.children,
                          [](const TracedCall* a, const TracedCall* b) {
                            return a->outer().start_ns < b->outer().start_ns;
                          });
    }
    MarkArrivals();
    for (TracedCall& call : set_.calls) MarkAsync(call);
    for (TracedCall& call : set_.calls) MeasureSelfTime(call);
  }

 private:
  // The call that the span is a part of, which may begin with it.
  TracedCall* CallOf(SpanNode& node) {
    TracedCall* const around = node.cause ? node.cause->call : nullptr;
    if (around != nullptr) ExtendMessage(node, *around);
    if (IsClientSide(node.span->kind)) {
      if (!IsWrapper(node)) return AddClient(node, around);
      return around != nullptr ? around : AddServed(node, nullptr);
    }
    if (!node.IsServerSide()) return around;
    if (around == nullptr || !IsClientSide(node.cause->span->kind)) {
      return AddServed(node, around);
    }
    // A client with several servers called each.
    if (around->server_span != nullptr) return AddServed(node, around->parent);
    SetServer(node, *around);
    return around;
  }

  // Of a consumer, whose span may end before its work begins.
  static void ExtendMessage(const SpanNode& node, TracedCall& around) {
    if (around.inner().kind == SpanKind::kConsumer && !node.is_aside &&
        node.span->service == around.server) {
      around.served_end_ns = std::max(around.served_end_ns, node.span->end_ns);
    }
  }

  TracedCall* AddClient(SpanNode& node, TracedCall* parent) {
    const Span& span = *node.span;
    TracedCall& call = Add(node, parent);
    call.client_span = &span;
    call.served_end_ns = span.end_ns;
    call.server = span.peer;
    // Work that the client's span caused in another service was the server's.
    for (const SpanNode* effect : node.effects) {
      const std::string& service = effect->span->service;
      if (service != span.service) call.server = service;
    }
    if (!call.server.empty()) return &call;
    call.server_is_inferred = HasServersName(node);
    call.server = call.server_is_inferred ? span.service : kUnknownService;
    return &call;
  }

  TracedCall* AddServed(SpanNode& node, TracedCall* parent) {
    TracedCall& call = Add(node, parent);
    SetServer(node, call);
    return &call;
  }

  TracedCall& Add(SpanNode& node, TracedCall* parent) {
    TracedCall& call = set_.calls.emplace_back();
    call.trace = TraceOf(node);
    call.parent = parent;
    if (parent != nullptr) {
      parent->children.push_back(&call);
      call.depth = parent->depth + 1;
    }
    call.is_arrival = parent == nullptr && !node.is_fragment;
    TakeAside(node, call);
    return call;
  }

  size_t TraceOf(const SpanNode& node) {
    if (node.cause != nullptr) return node.cause->call->trace;
    const auto [trace, is_new] =
        numbers_.try_emplace(node.span->trace, set_.traces);
    set_.traces += is_new;
    return trace->second;
  }

  static void SetServer(SpanNode& node, TracedCall& call) {
    call.server_span = node.span;
    call.served_end_ns = node.span->end_ns;
    call.server = node.span->service;
    call.server_is_inferred = false;
    TakeAside(node, call);
  }

  // A call that begins aside, or is served so, is one that nobody waits for:
  // that is said once, as what the call itself does is not aside of it.
  static void TakeAside(SpanNode& node, TracedCall& call) {
    call.is_async |= std::exchange(node.is_aside, false);
  }

  // The first part stands for a root that is missing.
  void MarkArrivals() {
    std::vector<TracedCall*> roots(set_.traces);
    for (TracedCall& call : set_.calls) {
      if (call.parent != nullptr) continue;
      TracedCall*& root = roots[call.trace];
      if (root == nullptr || call.is_arrival ||
          (!root->is_arrival &&
           call.outer().start_ns < root->outer().start_ns)) {
        root = &call;
      }
    }
    for (TracedCall* root : roots) root->is_arrival = true;
  }

  // A server's spans have the clock of those that it is a client with. Without
  // a client's span, clocks may differ; but whoever waited would take longer
  // than its own span says. Of a call that ended just after its server, some
  // time may be of the tracer's.
  void MarkAsync(TracedCall& call) {
    if (call.is_async) {
      ++set_.notes
            ["calls are messages, or follow from what has caused them: nobody "
             "waits for them"];
      return;
    }
    const TracedCall* const parent = call.parent;
    if (parent == nullptr || parent->server_span == nullptr) return;
    if (call.client_span && call.client_span->service != parent->server) return;
    const int64_t middle_ns = call.outer().start_ns + call.duration_ns() / 2;
    if (middle_ns <= parent->served_end_ns) return;
    call.is_async = true;
    ++set_.notes
          ["calls went on when what has caused them had ended: nobody waits "
           "for them"];
  }

  // The time of the server, without the times in which it has waited for
  // others.
  static void MeasureSelfTime(TracedCall& call) {
    const int64_t end_ns = call.served_end_ns;
    int64_t free_ns = call.inner().start_ns;
    for (const TracedCall* child : call.children) {
      if (child->is_async) continue;
      const int64_t start_ns = std::min(child->outer().start_ns, end_ns);
      call.self_ns += std::max<int64_t>(0, start_ns - free_ns);
      free_ns = std::max(free_ns, std::min(child->outer().end_ns, end_ns));
    }
    call.self_ns += end_ns - free_ns;
  }

  TraceSet& set_;
  absl::flat_hash_map<absl::string_view, size_t> numbers_;  // of traces
};

}  // namespace

TraceSet BuildTraces(SpanSet set) {
  TraceSet result;
  result.spans = std::move(set.spans);
  result.notes = std::move(set.notes);
  for (Span& span : result.spans) {
    if (span.service.empty()) span.service = kUnknownService;
    if (!span.instance.empty()) {
      result.instances[span.service].insert(span.instance);
    }
  }
  ForestBuilder builder(result.spans, result.notes);
  const Forest forest = builder.Build();
  CorrectClocks(forest, FindOffsets(forest, result.notes));
  CallBuilder(result).Build(forest);
  return result;
}

}  // namespace distbench::trace_import
