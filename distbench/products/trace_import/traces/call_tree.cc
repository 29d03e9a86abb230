#include "distbench/products/trace_import/traces/call_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "distbench/products/trace_import/traces/span_tree.h"

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

}  // namespace distbench::trace_import
