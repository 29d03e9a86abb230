// OTLP in JSON: the traces of OpenTelemetry, as its collector's file exporter
// and `distbench report --format=otlp` write them.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/trace_import/spans/formats.h"

namespace distbench::trace_import {
namespace {

using Json = nlohmann::json;

constexpr int kErrorStatusCode = 2;

// The value of an attribute, which says its type, such as {"intValue": "1"}.
std::string AttributeText(const Json& value) {
  if (!value.is_object() || value.empty()) return "";
  return TextOf(value, value.begin().key().c_str());
}

template <typename Take>
void ForEachAttribute(const Json& owner, Take take) {
  for (const Json& attribute : MemberOf(owner, "attributes")) {
    if (!attribute.is_object()) continue;
    take(TextOf(attribute, "key"), AttributeText(MemberOf(attribute, "value")));
  }
}

SpanKind OtlpKind(const std::string& kind) {
  static constexpr SpanKind kByNumber[] = {
      SpanKind::kUnknown, SpanKind::kInternal, SpanKind::kServer,
      SpanKind::kClient,  SpanKind::kClient,   SpanKind::kServer};
  if (kind.size() == 1 && kind[0] >= '0' && kind[0] <= '5') {
    return kByNumber[kind[0] - '0'];
  }
  return SpanKindOf(kind);
}

bool HasFailed(const Json& object) {
  const Json& status = MemberOf(object, "status");
  const std::string code = TextOf(status, "code");
  return code == std::to_string(kErrorStatusCode) ||
         code == "STATUS_CODE_ERROR";
}

class OtlpReader {
 public:
  explicit OtlpReader(SpanCollector& collector)
      : collector_(collector), first_of_resource_(collector.spans().size()) {}

  bool Take(const Json& object) {
    if (object.contains("startTimeUnixNano") && object.contains("spanId")) {
      TakeSpan(object);
      return true;
    }
    if (object.contains("scopeSpans") ||
        object.contains("instrumentationLibrarySpans")) {
      TakeResource(MemberOf(object, "resource"));
      return true;
    }
    return false;
  }

 private:
  void TakeSpan(const Json& object) {
    Span span;
    span.trace = TextOf(object, "traceId");
    span.id = TextOf(object, "spanId");
    span.parent = TextOf(object, "parentSpanId");
    span.operation = TextOf(object, "name");
    ForEachAttribute(object,
                     [&](const std::string& key, const std::string& value) {
                       TakeAttribute(key, value, span);
                     });
    span.kind = OtlpKind(TextOf(object, "kind"));
    span.failed = HasFailed(object);
    const int64_t start_ns = NumberOf(object, "startTimeUnixNano").value_or(-1);
    const int64_t end_ns = NumberOf(object, "endTimeUnixNano").value_or(-1);
    collector_.Add(std::move(span), start_ns,
                   start_ns < 0 || end_ns < 0 ? -1 : end_ns - start_ns);
  }

  // The spans since the last resource are of this one.
  void TakeResource(const Json& resource) {
    Span process;
    ForEachAttribute(resource,
                     [&](const std::string& key, const std::string& value) {
                       TakeProcessAttribute(key, value, process);
                     });
    std::vector<Span>& spans = collector_.spans();
    for (; first_of_resource_ < spans.size(); ++first_of_resource_) {
      spans[first_of_resource_].service = process.service;
      spans[first_of_resource_].instance = process.instance;
    }
  }

  SpanCollector& collector_;
  size_t first_of_resource_;
};

}  // namespace

absl::Status ReadOtlp(absl::string_view text, SpanCollector& collector) {
  OtlpReader reader(collector);
  return ForEachObject(text, collector,
                       [&](const Json& object) { return reader.Take(object); });
}

}  // namespace distbench::trace_import
