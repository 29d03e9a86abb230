// What all formats of traces have in common.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPAN_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace distbench::trace_import {

// The side of an RPC that a span is about. Producers of messages count as
// clients, and consumers as servers.
enum class SpanKind { kUnknown, kInternal, kClient, kServer };

// One piece of work, as one service saw it.
struct Span {
  static constexpr int64_t kNoSize = -1;

  // As the trace has them. Ids are unique within their trace, parents may be
  // missing.
  std::string trace;
  std::string id;
  std::string parent;  // empty: none

  std::string service;   // that did the work
  std::string instance;  // of the service; empty: not known
  std::string operation;
  std::string peer;  // the other side's service or address; empty: not known
  SpanKind kind = SpanKind::kUnknown;

  // Since the Unix epoch, by the clock of the service's host; 0 <= start <=
  // end.
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  int64_t request_bytes = kNoSize;
  int64_t response_bytes = kNoSize;
  bool failed = false;

  // Whether this is a server's span that had the id of its parent, the client's
  // (Zipkin). What the server did names that id as its parent.
  bool shared_id = false;
};

// What was noticed about the data, as a sentence without an end, and how often.
using ImportNotes = std::map<std::string, int64_t>;

struct SpanSet {
  std::vector<Span> spans;
  ImportNotes notes;
};

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPAN_H_
