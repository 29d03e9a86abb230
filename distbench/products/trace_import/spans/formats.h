// The formats that ReadSpans() knows, and what their readers share.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_FORMATS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_FORMATS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/trace_import/spans/spans.h"

namespace distbench::trace_import {

// Collects the spans of one file.
class SpanCollector {
 public:
  SpanCollector(int64_t max_spans, SpanSet& set)
      : max_spans_(max_spans), set_(set) {}

  // Takes a span with times in nanoseconds, or leaves it out and notes why.
  // A missing time is negative.
  void Add(Span span, int64_t start_ns, int64_t duration_ns);
  void Note(const std::string& note) { ++set_.notes[note]; }

  // Whether there were more spans than allowed; the rest was dropped.
  bool overflowed() const { return overflowed_; }
  std::vector<Span>& spans() { return set_.spans; }

 private:
  const int64_t max_spans_;
  SpanSet& set_;
  bool overflowed_ = false;
};

absl::Status ReadOtlp(absl::string_view text, SpanCollector& collector);
absl::Status ReadJaeger(absl::string_view text, SpanCollector& collector);
absl::Status ReadZipkin(absl::string_view text, SpanCollector& collector);
absl::Status ReadCsv(absl::string_view text, SpanCollector& collector);

// Calls `take` with each object of a text in JSON or JSON lines, inner ones
// first. An object that `take` returns true for is dropped from what is around
// it. A line that is not JSON is noted if others are. INVALID_ARGUMENT: the
// text is not JSON; the message says where.
absl::Status ForEachObject(absl::string_view text, SpanCollector& collector,
                           absl::FunctionRef<bool(const nlohmann::json&)> take);

// Members of an object, which may be missing or have any type. A text or a
// number as a text, and null as nothing.
std::string TextOf(const nlohmann::json& object, const char* key);
// A number, or a text that is one, scaled; fractions are rounded.
std::optional<int64_t> NumberOf(const nlohmann::json& object, const char* key,
                                int64_t scale = 1);
// Null if there is none.
const nlohmann::json& MemberOf(const nlohmann::json& object, const char* key);

// Looks at one attribute (tag) of a span, by OpenTelemetry's, OpenTracing's and
// Zipkin's names, and takes from it what a span has.
void TakeAttribute(absl::string_view key, absl::string_view value, Span& span);
// The same, for an attribute of the process that the span is from.
void TakeProcessAttribute(absl::string_view key, absl::string_view value,
                          Span& span);

// "client", "SPAN_KIND_CLIENT" and the like, in any case.
SpanKind SpanKindOf(absl::string_view name);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_SPANS_FORMATS_H_
