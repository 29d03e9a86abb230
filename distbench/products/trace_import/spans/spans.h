// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Spans of traces, and reading those of other programs.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPANS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPANS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench::trace_import {

// The side of an RPC or of a message that a span is about, with the numbers of
// OpenTelemetry.
enum class SpanKind {
  kUnknown,
  kInternal,
  kServer,
  kClient,
  kProducer,
  kConsumer
};

inline bool IsClientSide(SpanKind kind) {
  return kind == SpanKind::kClient || kind == SpanKind::kProducer;
}

// The year 2200. Later times are not of traces, and sums of them may overflow.
inline constexpr int64_t kLatestNs = 7'258'118'400'000'000'000;

// One piece of work, as one service saw it.
struct Span {
  static constexpr int64_t kNoSize = -1;

  // As the trace has them. Ids are unique within their trace, parents may be
  // missing.
  std::string trace;
  std::string id;
  std::string parent;  // empty: none

  // Traces and ids of spans that this one follows from: they, or what they
  // sent, caused it, and nobody waits for it.
  std::vector<std::pair<std::string, std::string>> links;

  std::string service;   // that did the work
  std::string instance;  // of the service; empty: not known
  std::string operation;
  std::string peer;  // the other side's service or address; empty: not known
  SpanKind kind = SpanKind::kUnknown;

  // Since the Unix epoch, by the clock of the service's host; 0 <= start <= end
  // <= kLatestNs.
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  int64_t request_bytes = kNoSize;
  int64_t response_bytes = kNoSize;
  bool failed = false;

  // Whether this is a server's span that had the id of its parent, the client's
  // (Zipkin). What the server did names that id as its parent.
  bool shared_id = false;
};

// The id that such a span has instead.
inline std::string IdOfServer(const std::string& client) {
  return client + "/server";
}

// What was noticed about the data, as a sentence without an end, and how often.
using ImportNotes = std::map<std::string, int64_t>;

struct SpanSet {
  std::vector<Span> spans;
  ImportNotes notes;
};

// "otlp", "jaeger", "zipkin" and "csv".
std::vector<std::string> TraceFormats();

// Adds the spans of a text to `set`. `format` is one of TraceFormats(). Formats
// in JSON may be one document, or one on each line. What is held besides the
// text is what the spans need; a document is never held as a whole.
//
// Spans that cannot be used, such as those without a time, are left out and
// noted. INVALID_ARGUMENT: `source` (a name for messages) is not of the format,
// has no spans, or has more than `max_spans` of them together with those
// before.
absl::Status ReadSpans(absl::string_view format, absl::string_view source,
                       absl::string_view text, int64_t max_spans, SpanSet& set);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_SPANS_H_
