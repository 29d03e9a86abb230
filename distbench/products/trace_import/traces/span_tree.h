// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The spans of traces, repaired so that they are trees.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_

#include <vector>

#include "distbench/products/trace_import/spans/spans.h"

namespace distbench::trace_import {

struct SpanNode {
  Span* span = nullptr;
  int parent = -1;            // position in the tree; -1: none
  std::vector<int> children;  // in the order of their starts
  bool is_fragment = false;   // its parent is missing

  // Whether what caused it does not wait for it: it follows from a link, or is
  // of the consumer of a message.
  bool is_async = false;
};

// The spans of a trace, parents before their children. There may be several
// roots.
using SpanTree = std::vector<SpanNode>;

// Makes trees of any spans, which outlive them:
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
// Each is noted.
std::vector<SpanTree> BuildSpanTrees(std::vector<Span>& spans,
                                     ImportNotes& notes);

// Whether the span is of the server of an RPC: by its kind, or because the work
// is of another service than the work that caused it.
bool IsServerSide(const SpanTree& tree, int position);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_
