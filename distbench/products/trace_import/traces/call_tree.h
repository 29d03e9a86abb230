// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// From spans to the RPCs that caused one another.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "distbench/products/trace_import/spans/spans.h"

namespace distbench::trace_import {

// One RPC or message: the spans of its client, of its server, and of what its
// server did by itself.
struct TracedCall {
  static constexpr int64_t kNotKnown = -1;

  std::string client;               // service; empty: not known
  std::string server;               // service
  bool server_is_inferred = false;  // see BuildTraces()
  std::string operation;

  int parent = -1;            // position in the trace; -1: none
  std::vector<int> children;  // in the order of their starts

  // As the client saw it, or else the server. A producer sees only that it
  // sends a message.
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  // How long the server took; kNotKnown without a span of the server.
  int64_t server_ns = kNotKnown;

  // How long the server, or else the RPC, did not wait for other RPCs.
  int64_t self_ns = 0;

  int64_t request_bytes = Span::kNoSize;
  int64_t response_bytes = Span::kNoSize;
  bool failed = false;

  // Whether its parent does not wait for it: it is a message, follows from what
  // the parent did, or went on when that had ended.
  bool is_async = false;

  // Whether nothing in the trace caused it. Otherwise a call without a parent
  // is the rest of a trace whose middle is missing.
  bool is_arrival = false;

  bool has_server_span() const { return server_ns != kNotKnown; }
};

// Parents are before their children.
using Trace = std::vector<TracedCall>;

struct TraceSet {
  std::vector<Trace> traces;
  std::map<std::string, std::set<std::string>> instances;  // by service
  ImportNotes notes;  // those of the spans, and what was repaired
};

// Takes any spans, which it makes trees of (BuildSpanTrees()):
// - A tree whose root is missing says what its RPCs do, but neither who called
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
TraceSet BuildTraces(SpanSet spans);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_CALL_TREE_H_
