// Zipkin's JSON, version 2: a list of spans, or a list of such lists.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/products/trace_import/spans/formats.h"

namespace distbench::trace_import {
namespace {

using Json = nlohmann::json;

std::string InstanceOf(const Json& endpoint) {
  std::string address = TextOf(endpoint, "ipv4");
  if (address.empty()) address = TextOf(endpoint, "ipv6");
  const std::string port = TextOf(endpoint, "port");
  if (address.empty() || port.empty()) return address;
  return absl::StrCat(address, ":", port);
}

// Client and server may share an id, which the server then says. The server's
// span becomes a child of the client's.
void Unshare(Span& span) {
  span.parent = span.id;
  span.id += "/server";
  span.shared_id = true;
}

Span ZipkinSpan(const Json& object) {
  Span span;
  span.trace = TextOf(object, "traceId");
  span.id = TextOf(object, "id");
  span.parent = TextOf(object, "parentId");
  span.operation = TextOf(object, "name");
  const Json& endpoint = MemberOf(object, "localEndpoint");
  span.service = TextOf(endpoint, "serviceName");
  span.instance = InstanceOf(endpoint);
  const Json& tags = MemberOf(object, "tags");
  if (tags.is_object()) {
    for (const auto& [key, value] : tags.items()) {
      TakeAttribute(key, TextOf(tags, key.c_str()), span);
    }
  }
  const std::string peer =
      TextOf(MemberOf(object, "remoteEndpoint"), "serviceName");
  if (!peer.empty()) span.peer = peer;
  span.kind = SpanKindOf(TextOf(object, "kind"));
  if (TextOf(object, "shared") == "true") Unshare(span);
  return span;
}

}  // namespace

absl::Status ReadZipkin(absl::string_view text, SpanCollector& collector) {
  return ForEachObject(text, collector, [&](const Json& object) {
    if (!object.contains("traceId") || !object.contains("id")) return false;
    // A duration of less than a microsecond is absent.
    collector.Add(ZipkinSpan(object),
                  NumberOf(object, "timestamp", base::kNsPerUs).value_or(-1),
                  NumberOf(object, "duration", base::kNsPerUs).value_or(0));
    return true;
  });
}

}  // namespace distbench::trace_import
