// Jaeger's JSON, as its user interface and its HTTP interface give it.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/products/trace_import/spans/formats.h"

namespace distbench::trace_import {
namespace {

using Json = nlohmann::json;

// The span that caused this one; the first CHILD_OF, or else FOLLOWS_FROM.
std::string ParentId(const Json& object) {
  std::string parent = TextOf(object, "parentSpanID");  // of older versions
  for (const Json& reference : MemberOf(object, "references")) {
    if (!reference.is_object() ||
        TextOf(reference, "traceID") != TextOf(object, "traceID")) {
      continue;
    }
    if (parent.empty()) parent = TextOf(reference, "spanID");
    if (TextOf(reference, "refType") == "CHILD_OF") {
      return TextOf(reference, "spanID");
    }
  }
  return parent;
}

template <typename Take>
void ForEachTag(const Json& owner, Take take) {
  for (const Json& tag : MemberOf(owner, "tags")) {
    if (tag.is_object()) take(TextOf(tag, "key"), TextOf(tag, "value"));
  }
}

class JaegerReader {
 public:
  explicit JaegerReader(SpanCollector& collector)
      : collector_(collector), first_of_trace_(collector.spans().size()) {}

  bool Take(const Json& object) {
    if (object.contains("spanID") && object.contains("startTime")) {
      TakeSpan(object);
      return true;
    }
    if (object.contains("processes") && object.contains("spans")) {
      TakeProcesses(MemberOf(object, "processes"));
      return true;
    }
    return false;
  }

 private:
  void TakeSpan(const Json& object) {
    Span span;
    span.trace = TextOf(object, "traceID");
    span.id = TextOf(object, "spanID");
    span.parent = ParentId(object);
    span.operation = TextOf(object, "operationName");
    // Until the processes are known, which are after the spans.
    span.service = TextOf(object, "processID");
    ForEachTag(object, [&](const std::string& key, const std::string& value) {
      TakeAttribute(key, value, span);
    });
    collector_.Add(std::move(span),
                   NumberOf(object, "startTime", base::kNsPerUs).value_or(-1),
                   NumberOf(object, "duration", base::kNsPerUs).value_or(-1));
  }

  void TakeProcesses(const Json& processes) {
    std::vector<Span>& spans = collector_.spans();
    for (; first_of_trace_ < spans.size(); ++first_of_trace_) {
      Span& span = spans[first_of_trace_];
      const Json& process = MemberOf(processes, span.service.c_str());
      span.service = TextOf(process, "serviceName");
      ForEachTag(process,
                 [&](const std::string& key, const std::string& value) {
                   if (key != "service.name")
                     TakeProcessAttribute(key, value, span);
                 });
    }
  }

  SpanCollector& collector_;
  size_t first_of_trace_;
};

}  // namespace

absl::Status ReadJaeger(absl::string_view text, SpanCollector& collector) {
  JaegerReader reader(collector);
  return ForEachObject(text, collector,
                       [&](const Json& object) { return reader.Take(object); });
}

}  // namespace distbench::trace_import
