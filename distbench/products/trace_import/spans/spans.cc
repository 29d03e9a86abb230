#include "distbench/products/trace_import/spans/spans.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/products/trace_import/spans/formats.h"

namespace distbench::trace_import {
namespace {

struct TraceFormat {
  const char* name;
  absl::Status (*read)(absl::string_view text, SpanCollector& collector);
};

constexpr TraceFormat kFormats[] = {
    {"otlp", ReadOtlp},
    {"jaeger", ReadJaeger},
    {"zipkin", ReadZipkin},
    {"csv", ReadCsv},
};

}  // namespace

std::vector<std::string> TraceFormats() {
  std::vector<std::string> names;
  for (const TraceFormat& format : kFormats) names.push_back(format.name);
  return names;
}

absl::Status ReadSpans(absl::string_view format, absl::string_view source,
                       absl::string_view text, int64_t max_spans,
                       SpanSet& set) {
  for (const TraceFormat& candidate : kFormats) {
    if (candidate.name != format) continue;
    const size_t spans_before = set.spans.size();
    SpanCollector collector(max_spans, set);
    const absl::Status status = candidate.read(text, collector);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ": ", status.message()));
    }
    if (collector.overflowed()) {
      return absl::InvalidArgumentError(absl::StrCat(
          source, ": there are more than ", max_spans,
          " spans; give fewer files, or allow more with --max_spans"));
    }
    if (set.spans.size() == spans_before) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ": has no usable spans in the format ", format,
                       "; is it of another format?"));
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no trace format \"", format, "\""));
}

}  // namespace distbench::trace_import
