// The spans of one trace, repaired so that they are trees.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_

#include <vector>

#include "absl/types/span.h"
#include "distbench/products/trace_import/spans/span.h"

namespace distbench::trace_import {

struct SpanNode {
  Span* span = nullptr;
  int parent = -1;            // position in the tree; -1: none
  std::vector<int> children;  // in the order of their starts
  bool is_fragment = false;   // its parent is missing
};

// Parents are before their children. Repairs are as BuildTraces() says, and
// change the times of spans. `spans` are those of one trace, and outlive the
// result.
std::vector<SpanNode> BuildSpanTree(absl::Span<Span> spans, ImportNotes& notes);

// Whether the span is of the server of an RPC: by its kind, or because the work
// is of another service than the work that caused it.
bool IsServerSide(const std::vector<SpanNode>& tree, int position);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_TRACES_SPAN_TREE_H_
