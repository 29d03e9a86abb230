// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/traces/call_tree.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "distbench/products/trace_import/traces/span_tree.h"

namespace distbench::trace_import {
namespace {

std::string NameOrUnknown(const std::string& service) {
  return service.empty() ? "unknown_service" : service;
}

// From the spans of a trace to its calls.
class CallBuilder {
 public:
  CallBuilder(const SpanTree& tree, ImportNotes& notes)
      : tree_(tree),
        notes_(notes),
        calls_of_(tree.size()),
        is_aside_(tree.size()) {}

  Trace Build() {
    for (size_t i = 0; i < tree_.size(); ++i) {
      is_aside_[i] = tree_[i].is_async ||
                     (tree_[i].parent >= 0 && is_aside_[tree_[i].parent]);
      calls_of_[i] = CallOf(static_cast<int>(i));
    }
    for (TracedCall& call : calls_) {
      absl::c_sort(call.children, [&](int a, int b) {
        return std::tie(calls_[a].start_ns, a) <
               std::tie(calls_[b].start_ns, b);
      });
    }
    MarkArrivals();
    for (size_t i = 0; i < calls_.size(); ++i) MarkAsync(i);
    for (size_t i = 0; i < calls_.size(); ++i) MeasureSelfTime(i);
    return std::move(calls_);
  }

 private:
  // The call that the span is a part of, which may begin with it.
  int CallOf(int position) {
    const SpanNode& node = tree_[position];
    const int around = node.parent < 0 ? -1 : calls_of_[node.parent];
    if (around >= 0) ExtendMessage(node, position, around);
    if (IsClientSide(node.span->kind)) {
      if (!IsWrapper(node)) return AddClient(position, around);
      return around >= 0 ? around : AddServed(position, around);
    }
    if (!IsServerSide(tree_, position)) return around;
    const bool is_answer =
        around >= 0 && IsClientSide(tree_[node.parent].span->kind);
    if (is_answer && !calls_[around].has_server_span()) {
      SetServer(position, around);
      return around;
    }
    // A client with several servers called each.
    return AddServed(position, is_answer ? calls_[around].parent : around);
  }

  // Of a consumer, whose span may end before its work begins.
  void ExtendMessage(const SpanNode& node, int position, int around) {
    TracedCall& call = calls_[around];
    if (!is_consumed_[around] || is_aside_[position] ||
        node.span->service != call.server) {
      return;
    }
    Interval& served = served_[around];
    served.end_ns = std::max(served.end_ns, node.span->end_ns);
    call.server_ns = served.end_ns - served.start_ns;
  }

  // A client's span around others of the same service, such as one of a
  // database's client around the HTTP that it uses.
  bool IsWrapper(const SpanNode& node) const {
    return absl::c_any_of(node.children,
                          [&](int child) {
                            return IsClientSide(tree_[child].span->kind) &&
                                   !tree_[child].is_async &&
                                   tree_[child].span->service ==
                                       node.span->service;
                          }) &&
           absl::c_none_of(node.children, [&](int child) {
             return IsServerSide(tree_, child);
           });
  }

  // Whether the span of a client has another service than that which caused it.
  // If a client's span has caused it, the server in between is missing.
  bool HasServersName(const SpanNode& node) const {
    if (node.parent < 0 || node.span->service.empty()) return false;
    const Span& cause = *tree_[node.parent].span;
    return !IsClientSide(cause.kind) && !cause.service.empty() &&
           cause.service != node.span->service;
  }

  int AddClient(int position, int parent) {
    const SpanNode& node = tree_[position];
    const int added = Add(position, parent);
    TracedCall& call = calls_[added];
    call.client = NameOrUnknown(node.span->service);
    call.server = node.span->peer;
    // Work that the client's span caused in another service was the server's.
    for (const int child : node.children) {
      const std::string& service = tree_[child].span->service;
      if (service != node.span->service) call.server = service;
    }
    if (call.server.empty() && HasServersName(node)) {
      call.client = tree_[node.parent].span->service;
      call.server = node.span->service;
      call.server_is_inferred = true;
    }
    call.server = NameOrUnknown(call.server);
    has_client_span_[added] = !call.server_is_inferred;
    return added;
  }

  int AddServed(int position, int parent) {
    const int added = Add(position, parent);
    if (parent >= 0) calls_[added].client = calls_[parent].server;
    SetServer(position, added);
    return added;
  }

  int Add(int position, int parent) {
    const Span& span = *tree_[position].span;
    const int added = static_cast<int>(calls_.size());
    TracedCall call;
    call.operation = span.operation;
    call.parent = parent;
    call.start_ns = span.start_ns;
    call.end_ns = span.end_ns;
    call.request_bytes = span.request_bytes;
    call.response_bytes = span.response_bytes;
    call.failed = span.failed;
    call.is_arrival = parent < 0 && !tree_[position].is_fragment;
    call.is_async = is_aside_[position];
    is_aside_[position] = false;  // for what the call itself does
    calls_.push_back(std::move(call));
    served_.push_back({span.start_ns, span.end_ns});
    has_client_span_.push_back(false);
    is_consumed_.push_back(false);
    if (parent >= 0) calls_[parent].children.push_back(added);
    return added;
  }

  void SetServer(int position, int of_call) {
    const Span& span = *tree_[position].span;
    TracedCall& call = calls_[of_call];
    call.server = NameOrUnknown(span.service);
    call.server_is_inferred = false;
    call.operation = span.operation;
    call.server_ns = span.end_ns - span.start_ns;
    call.request_bytes = std::max(call.request_bytes, span.request_bytes);
    call.response_bytes = std::max(call.response_bytes, span.response_bytes);
    call.failed |= span.failed;
    call.is_async |= is_aside_[position];
    is_aside_[position] = false;
    served_[of_call] = {span.start_ns, span.end_ns};
    is_consumed_[of_call] = span.kind == SpanKind::kConsumer;
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

  // A server's spans have the clock of those that it is a client with. Of a
  // call that ended just after its server, some time may be of the tracer's.
  void MarkAsync(size_t position) {
    TracedCall& call = calls_[position];
    if (call.is_async) {
      ++notes_
          ["calls are messages, or follow from what has caused them: "
           "nobody waits for them"];
    }
    if (call.is_async || call.parent < 0 || !has_client_span_[position]) return;
    const TracedCall& parent = calls_[call.parent];
    const int64_t middle_ns = call.start_ns + (call.end_ns - call.start_ns) / 2;
    if (parent.has_server_span() && call.client == parent.server &&
        middle_ns > served_[call.parent].end_ns) {
      call.is_async = true;
      ++notes_
          ["calls went on when what has caused them had ended: nobody "
           "waits for them"];
    }
  }

  // The time of the server, without the times in which it has waited for
  // others.
  void MeasureSelfTime(size_t position) {
    auto [free_ns, end_ns] = served_[position];
    int64_t self_ns = 0;
    for (const int child : calls_[position].children) {
      if (calls_[child].is_async) continue;
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

  const SpanTree& tree_;
  ImportNotes& notes_;
  std::vector<int> calls_of_;  // by span; -1: none

  // By span: whether the call around it, which it is not the beginning of, does
  // not wait for it.
  std::vector<bool> is_aside_;

  // By call.
  std::vector<Interval> served_;  // at the server if known
  std::vector<bool> has_client_span_;
  std::vector<bool> is_consumed_;  // its server has a consumer's span
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
  for (const SpanTree& tree : BuildSpanTrees(set.spans, result.notes)) {
    Trace trace = CallBuilder(tree, result.notes).Build();
    if (!trace.empty()) result.traces.push_back(std::move(trace));
  }
  return result;
}

}  // namespace distbench::trace_import
