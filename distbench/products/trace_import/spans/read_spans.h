// Reads traces of other programs.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_READ_SPANS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_READ_SPANS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/spans/span.h"

namespace distbench::trace_import {

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

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_READ_SPANS_H_
