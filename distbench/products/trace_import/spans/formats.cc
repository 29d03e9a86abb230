#include "distbench/products/trace_import/spans/formats.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::trace_import {
namespace {

using Json = nlohmann::json;

// The year 2200. Later times are not of traces, and sums of them may overflow.
constexpr int64_t kLatestNs = 7'258'118'400'000'000'000;

// No message of distbench is larger.
constexpr int64_t kMaxMessageBytes = int64_t{1} << 31;

absl::Status ParseDocument(absl::string_view text,
                           absl::FunctionRef<bool(const Json&)> take) {
  const auto drop_taken = [&](int /*depth*/, Json::parse_event_t event,
                              Json& parsed) {
    return event != Json::parse_event_t::object_end || !take(parsed);
  };
  try {
    static_cast<void>(Json::parse(text.begin(), text.end(), drop_taken));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("is not JSON: ", error.what()));
  }
  return absl::OkStatus();
}

// The text up to the end of a line, which it takes from `text`.
absl::string_view TakeLine(absl::string_view& text) {
  const size_t end = text.find('\n');
  const absl::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return absl::StripAsciiWhitespace(line);
}

bool IsJsonLines(absl::string_view text) {
  const absl::string_view line = TakeLine(text);
  return !absl::StripAsciiWhitespace(text).empty() &&
         Json::accept(line.begin(), line.end());
}

void TakeSize(absl::string_view value, int64_t& bytes) {
  int64_t number;
  if (absl::SimpleAtoi(value, &number) && number >= 0 &&
      number <= kMaxMessageBytes) {
    bytes = number;
  }
}

}  // namespace

void SpanCollector::Add(Span span, int64_t start_ns, int64_t duration_ns) {
  if (span.trace.empty() || span.id.empty()) {
    return Note("spans without a trace or an id were left out");
  }
  if (start_ns < 0 || duration_ns < 0 || start_ns > kLatestNs ||
      duration_ns > kLatestNs - start_ns) {
    return Note("spans without a possible start and duration were left out");
  }
  overflowed_ = overflowed_ || set_.spans.size() >= max_spans_;
  if (overflowed_) return;
  span.start_ns = start_ns;
  span.end_ns = start_ns + duration_ns;
  set_.spans.push_back(std::move(span));
}

absl::Status ForEachObject(absl::string_view text, SpanCollector& collector,
                           absl::FunctionRef<bool(const Json&)> take) {
  text = absl::StripAsciiWhitespace(text);
  if (!IsJsonLines(text)) return ParseDocument(text, take);
  while (!text.empty()) {
    const absl::string_view line = TakeLine(text);
    if (!line.empty() && !ParseDocument(line, take).ok()) {
      collector.Note("lines that are not JSON were left out");
    }
  }
  return absl::OkStatus();
}

const Json& MemberOf(const Json& object, const char* key) {
  static const auto* const kNull = new Json();
  const auto member = object.find(key);
  return member == object.end() ? *kNull : *member;
}

std::string TextOf(const Json& object, const char* key) {
  const Json& member = MemberOf(object, key);
  if (member.is_string()) return member.get<std::string>();
  return member.is_number() || member.is_boolean() ? member.dump() : "";
}

std::optional<int64_t> NumberOf(const Json& object, const char* key,
                                int64_t scale) {
  const std::string text = TextOf(object, key);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t whole;
  if (absl::SimpleAtoi(text, &whole) && std::abs(whole / 2) < kMost / 2 / scale)
    return whole * scale;
  double number;
  if (!absl::SimpleAtod(text, &number) ||
      !(std::abs(number * scale) < static_cast<double>(kLatestNs))) {
    return std::nullopt;
  }
  return std::llround(number * scale);
}

void TakeAttribute(absl::string_view key, absl::string_view value, Span& span) {
  if (key == "span.kind") {
    span.kind = SpanKindOf(value);
  } else if (key == "peer.service" ||
             (span.peer.empty() &&
              (key == "server.address" || key == "net.peer.name" ||
               key == "peer.hostname" || key == "db.system" ||
               key == "messaging.system"))) {
    span.peer = std::string(value);
  } else if (key == "http.request.body.size" ||
             key == "http.request_content_length" ||
             key == "http.request.size" || key == "distbench.request_bytes") {
    TakeSize(value, span.request_bytes);
  } else if (key == "http.response.body.size" ||
             key == "http.response_content_length" ||
             key == "http.response.size" || key == "distbench.response_bytes") {
    TakeSize(value, span.response_bytes);
  } else if (key == "error") {
    // Zipkin's value is a message, and OpenTracing's a truth.
    span.failed = value != "false";
  } else if (key == "otel.status_code") {
    span.failed = value == "ERROR";
  }
}

void TakeProcessAttribute(absl::string_view key, absl::string_view value,
                          Span& span) {
  if (key == "service.name") {
    span.service = std::string(value);
  } else if (key == "service.instance.id") {
    span.instance = std::string(value);
  } else if (span.instance.empty() &&
             (key == "k8s.pod.name" || key == "container.id" ||
              key == "host.name" || key == "hostname" || key == "ip")) {
    span.instance = std::string(value);
  }
}

SpanKind SpanKindOf(absl::string_view name) {
  for (const auto& [suffix, kind] :
       {std::pair("CLIENT", SpanKind::kClient),
        std::pair("PRODUCER", SpanKind::kClient),
        std::pair("SERVER", SpanKind::kServer),
        std::pair("CONSUMER", SpanKind::kServer),
        std::pair("INTERNAL", SpanKind::kInternal)}) {
    if (absl::EndsWithIgnoreCase(name, suffix)) return kind;
  }
  return SpanKind::kUnknown;
}

}  // namespace distbench::trace_import
