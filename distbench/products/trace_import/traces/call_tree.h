// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// From spans to the RPCs that caused one another.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "distbench/products/trace_import/spans/spans.h"

namespace distbench::trace_import {

// One RPC or message: the spans of its client, of its server, and of what its
// server did by itself.
struct TracedCall {
  // At least one of them; a span of the other side is missing.
  const Span* client_span = nullptr;
  const Span* server_span = nullptr;

  std::string server;               // service
  bool server_is_inferred = false;  // see BuildTraces()

  size_t trace = 0;   // its number
  int64_t depth = 1;  // how many calls lead to it, with itself
  int rpc = 0;        // for InferTraffic(): which it is of
  TracedCall* parent = nullptr;
  std::vector<TracedCall*> children;  // in the order of their starts

  // Whether its parent does not wait for it: it is a message, follows from what
  // the parent did, or went on when that had ended.
  bool is_async = false;

  // Whether nothing in the trace caused it. Otherwise a call without a parent
  // is the rest of a trace whose middle is missing.
  bool is_arrival = false;

  // When the server ended, and how long the server, or else the RPC, did not
  // wait for other RPCs.
  int64_t served_end_ns = 0;
  int64_t self_ns = 0;

  // As the client saw it, or else the server. A producer sees only that it
  // sends a message.
  const Span& outer() const { return client_span ? *client_span : inner(); }

  // As the server saw it, or else the client.
  const Span& inner() const { return server_span ? *server_span : outer(); }

  const std::string& operation() const { return inner().operation; }
  int64_t duration_ns() const { return outer().end_ns - outer().start_ns; }
  int64_t served_ns() const { return served_end_ns - inner().start_ns; }
  bool failed() const { return outer().failed || inner().failed; }
  int64_t request_bytes() const {
    return std::max(outer().request_bytes, inner().request_bytes);
  }
  int64_t response_bytes() const {
    return std::max(outer().response_bytes, inner().response_bytes);
  }

  // A service; empty: not known.
  std::string client() const {
    if (parent != nullptr) return parent->server;
    return client_span ? client_span->service : "";
  }
};

struct TraceSet {
  TraceSet() = default;
  TraceSet(TraceSet&&) = default;  // calls have pointers

  size_t traces = 0;
  std::vector<Span> spans;
  std::deque<TracedCall> calls;  // parents before their children
  std::map<std::string, std::set<std::string>> instances;  // by service
  ImportNotes notes;  // those of the spans, and what was repaired
};

// Takes any spans, and repairs them so that they are trees:
// - A span without a parent has the first of its links that is known. A
//   consumer has that even if it has a parent, which is what fetched the
//   message. Traces that links join are one.
// - Of spans with the same id, the first is used.
// - A span whose parent is missing begins a tree of its own.
// - Parents in a circle are cut at the first span.
// - If clocks of a client's and a server's instances differ, what the server
//   did is moved, by one offset per pair of instances. It is the median of the
//   differences between the middles of clients' and servers' spans, or, if
//   there are only servers' spans, of how long these begin before their causes.
//   A pair has an offset if more of its spans are within their causes with it
//   than without.
// Each is noted. Of these trees:
// - One whose root is missing says what its RPCs do, but neither who called
//   the first one nor that it arrived. If all spans of a trace have parents,
//   the first such tree counts as an arrival.
// - If nothing below or in a client's span names a server, but its service is
//   not that of the span that caused it, it has the name of the server: some
//   instrumentations of databases do so.
// - What a server did below an id that it shares with its client is the
//   server's, if it is of the same service.
// - What a consumer's service did below its span is its work, even if the span
//   is only of taking the message.
//
// The order of the result depends on the spans' times and ids alone.
TraceSet BuildTraces(SpanSet set);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_
