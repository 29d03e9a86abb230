// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/spans/spans.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "distbench/base/time_units.h"

namespace distbench::trace_import {
namespace {

using Json = nlohmann::json;

// Collects the spans of one file.
class SpanCollector {
 public:
  SpanCollector(int64_t max_spans, SpanSet& set)
      : max_spans_(max_spans), set_(set), without_owner_(set.spans.size()) {}

  // Takes a span with times in nanoseconds, or leaves it out and notes why.
  // A missing time is negative.
  void Add(Span span, int64_t start_ns, int64_t duration_ns) {
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

  void Note(const std::string& note) { ++set_.notes[note]; }

  // The spans since the last call. In some formats, the process that spans are
  // of is said after them.
  absl::Span<Span> TakeWithoutOwner() {
    const size_t begin = std::exchange(without_owner_, set_.spans.size());
    return absl::MakeSpan(set_.spans).subspan(begin);
  }

  // Whether there were more spans than allowed; the rest was dropped.
  bool overflowed() const { return overflowed_; }

 private:
  const int64_t max_spans_;
  SpanSet& set_;
  size_t without_owner_;
  bool overflowed_ = false;
};

// Calls `take` with each object of a document, inner ones first. An object that
// `take` returns true for is dropped from what is around it.
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

// The same for a text of one document, or of one on each line. A line that is
// not JSON is noted if others are.
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

// Members of an object, which may be missing or have any type. Null if there is
// none.
const Json& MemberOf(const Json& object, const std::string& key) {
  static const auto* const kNull = new Json();
  const auto member = object.find(key);
  return member == object.end() ? *kNull : *member;
}

std::string AsText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() || value.is_boolean() ? value.dump() : "";
}

std::string TextOf(const Json& object, const std::string& key) {
  return AsText(MemberOf(object, key));
}

// A number, or a text that is one, scaled; fractions are rounded. -1 if there
// is none.
int64_t TimeOf(const Json& object, const std::string& key, int64_t scale) {
  const std::string text = TextOf(object, key);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t whole;
  if (absl::SimpleAtoi(text, &whole) && std::abs(whole / 2) < kMost / 2 / scale)
    return whole * scale;
  double number;
  if (!absl::SimpleAtod(text, &number) ||
      !(std::abs(number * scale) < static_cast<double>(kMost / 2))) {
    return -1;
  }
  return std::llround(number * scale);
}

// "client", "SPAN_KIND_CLIENT", "3" and the like, in any case.
SpanKind SpanKindOf(absl::string_view name) {
  constexpr const char* kNames[] = {"UNSPECIFIED", "INTERNAL", "SERVER",
                                    "CLIENT",      "PRODUCER", "CONSUMER"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == absl::StrCat(i) || absl::EndsWithIgnoreCase(name, kNames[i])) {
      return static_cast<SpanKind>(i);
    }
  }
  return SpanKind::kUnknown;
}

// A size of a message, unless it is none or larger than any of distbench.
void TakeSize(const std::string& value, int64_t& bytes) {
  constexpr int64_t kMaxMessageBytes = int64_t{1} << 31;
  int64_t number;
  if (absl::SimpleAtoi(value, &number) && number >= 0 &&
      number <= kMaxMessageBytes) {
    bytes = number;
  }
}

// Attributes (tags): an object, or a list of keys and values, which may say
// their types, as in {"intValue": "1"}.
template <typename Take>
void ForEachAttribute(const Json& attributes, Take take) {
  for (const auto& [name, attribute] : attributes.items()) {
    if (attributes.is_object()) {
      take(name, AsText(attribute));
    } else if (attribute.is_object()) {
      const Json& value = MemberOf(attribute, "value");
      take(
          TextOf(attribute, "key"),
          AsText(value.is_object() && !value.empty() ? *value.begin() : value));
    }
  }
}

template <size_t size>
bool IsOneOf(const char* const (&names)[size], const std::string& name) {
  return absl::c_linear_search(names, name);
}

// Takes what a span has from its attributes, by OpenTelemetry's, OpenTracing's
// and Zipkin's names.
void TakeAttributes(const Json& attributes, Span& span) {
  static constexpr const char* kPeers[] = {"server.address", "net.peer.name",
                                           "peer.hostname", "db.system",
                                           "messaging.system"};
  static constexpr const char* kRequestSizes[] = {
      "http.request.body.size", "http.request_content_length",
      "http.request.size", "distbench.request_bytes"};
  static constexpr const char* kResponseSizes[] = {
      "http.response.body.size", "http.response_content_length",
      "http.response.size", "distbench.response_bytes"};
  ForEachAttribute(attributes, [&](const std::string& key,
                                   const std::string& value) {
    if (key == "span.kind") span.kind = SpanKindOf(value);
    if (key == "peer.service" || (span.peer.empty() && IsOneOf(kPeers, key))) {
      span.peer = value;
    }
    if (IsOneOf(kRequestSizes, key)) TakeSize(value, span.request_bytes);
    if (IsOneOf(kResponseSizes, key)) TakeSize(value, span.response_bytes);
    // Zipkin's value is a message, and OpenTracing's a truth.
    if (key == "error") span.failed = value != "false";
    if (key == "otel.status_code") span.failed = value == "ERROR";
  });
}

// The same, for the process that a span is of.
void TakeProcess(const Json& attributes, Span& span) {
  static constexpr const char* kInstances[] = {"k8s.pod.name", "container.id",
                                               "host.name", "hostname", "ip"};
  ForEachAttribute(attributes,
                   [&](const std::string& key, const std::string& value) {
                     if (key == "service.name" && span.service.empty())
                       span.service = value;
                     if (key == "service.instance.id" ||
                         (span.instance.empty() && IsOneOf(kInstances, key))) {
                       span.instance = value;
                     }
                   });
}

// The names of what spans have in each format.
struct MemberNames {
  const char* trace;
  const char* id;
  const char* parent;
  const char* operation;
  const char* start;
  const char* attributes;
};

constexpr MemberNames kOtlp = {"traceId",           "spanId",
                               "parentSpanId",      "name",
                               "startTimeUnixNano", "attributes"};
constexpr MemberNames kJaeger = {"traceID",       "spanID",    "parentSpanID",
                                 "operationName", "startTime", "tags"};
constexpr MemberNames kZipkin = {"traceId", "id",        "parentId",
                                 "name",    "timestamp", "tags"};
constexpr MemberNames kCsv = {"trace",     "span",     "parent",
                              "operation", "start_ns", nullptr};

Span SpanOf(const Json& object, const MemberNames& names) {
  Span span;
  span.trace = TextOf(object, names.trace);
  span.id = TextOf(object, names.id);
  span.parent = TextOf(object, names.parent);
  span.operation = TextOf(object, names.operation);
  if (names.attributes != nullptr) {
    TakeAttributes(MemberOf(object, names.attributes), span);
  }
  return span;
}

void AddOtlpSpan(const Json& object, SpanCollector& collector) {
  Span span = SpanOf(object, kOtlp);
  span.kind = SpanKindOf(TextOf(object, "kind"));
  const std::string code = TextOf(MemberOf(object, "status"), "code");
  span.failed = code == "2" || code == "STATUS_CODE_ERROR";
  for (const Json& link : MemberOf(object, "links")) {
    if (!link.is_object()) continue;
    span.links.push_back({TextOf(link, kOtlp.trace), TextOf(link, kOtlp.id)});
  }
  const int64_t start_ns = TimeOf(object, kOtlp.start, 1);
  const int64_t end_ns = TimeOf(object, "endTimeUnixNano", 1);
  collector.Add(std::move(span), start_ns,
                start_ns < 0 || end_ns < 0 ? -1 : end_ns - start_ns);
}

// A child's parent is in its trace, and waits for it.
void TakeReferences(const Json& references, Span& span) {
  bool is_child = false;
  for (const Json& reference : references) {
    if (!reference.is_object()) continue;
    std::string trace = TextOf(reference, kJaeger.trace);
    std::string id = TextOf(reference, kJaeger.id);
    if (TextOf(reference, "refType") != "CHILD_OF") {
      span.links.push_back({std::move(trace), std::move(id)});
    } else if (trace == span.trace && !std::exchange(is_child, true)) {
      span.parent = std::move(id);
    }
  }
}

void AddJaegerSpan(const Json& object, SpanCollector& collector) {
  Span span = SpanOf(object, kJaeger);
  TakeReferences(MemberOf(object, "references"), span);
  // Until the processes are known.
  span.service = TextOf(object, "processID");
  collector.Add(std::move(span), TimeOf(object, kJaeger.start, base::kNsPerUs),
                TimeOf(object, "duration", base::kNsPerUs));
}

void AddZipkinSpan(const Json& object, SpanCollector& collector) {
  Span span = SpanOf(object, kZipkin);
  const Json& endpoint = MemberOf(object, "localEndpoint");
  span.service = TextOf(endpoint, "serviceName");
  span.instance = TextOf(endpoint, "ipv4");
  if (span.instance.empty()) span.instance = TextOf(endpoint, "ipv6");
  const std::string port = TextOf(endpoint, "port");
  if (!span.instance.empty() && !port.empty()) {
    absl::StrAppend(&span.instance, ":", port);
  }
  const std::string peer =
      TextOf(MemberOf(object, "remoteEndpoint"), "serviceName");
  if (!peer.empty()) span.peer = peer;
  span.kind = SpanKindOf(TextOf(object, "kind"));
  // Client and server may share an id, which the server then says. The server's
  // span becomes a child of the client's.
  if (TextOf(object, "shared") == "true") {
    span.parent = span.id;
    span.id += "/server";
    span.shared_id = true;
  }
  // A duration of less than a microsecond is absent.
  const bool is_instant = MemberOf(object, "duration").is_null();
  collector.Add(std::move(span), TimeOf(object, kZipkin.start, base::kNsPerUs),
                is_instant ? 0 : TimeOf(object, "duration", base::kNsPerUs));
}

// As OpenTelemetry's collector and `distbench report --format=otlp` write it:
// a resource after its spans.
absl::Status ReadOtlp(absl::string_view text, SpanCollector& collector) {
  return ForEachObject(text, collector, [&](const Json& object) {
    if (object.contains(kOtlp.start) && object.contains(kOtlp.id)) {
      AddOtlpSpan(object, collector);
      return true;
    }
    if (!object.contains("scopeSpans") &&
        !object.contains("instrumentationLibrarySpans")) {
      return false;
    }
    Span process;
    TakeProcess(MemberOf(MemberOf(object, "resource"), kOtlp.attributes),
                process);
    for (Span& span : collector.TakeWithoutOwner()) {
      span.service = process.service;
      span.instance = process.instance;
    }
    return true;
  });
}

// As Jaeger's user interface and its HTTP interface give it: a trace's
// processes after its spans.
absl::Status ReadJaeger(absl::string_view text, SpanCollector& collector) {
  return ForEachObject(text, collector, [&](const Json& object) {
    if (object.contains(kJaeger.id) && object.contains(kJaeger.start)) {
      AddJaegerSpan(object, collector);
      return true;
    }
    if (!object.contains("processes") || !object.contains("spans")) {
      return false;
    }
    for (Span& span : collector.TakeWithoutOwner()) {
      const Json& process =
          MemberOf(MemberOf(object, "processes"), span.service);
      span.service = TextOf(process, "serviceName");
      TakeProcess(MemberOf(process, kJaeger.attributes), span);
    }
    return true;
  });
}

// Version 2: a list of spans, or a list of such lists.
absl::Status ReadZipkin(absl::string_view text, SpanCollector& collector) {
  return ForEachObject(text, collector, [&](const Json& object) {
    if (!object.contains(kZipkin.trace) || !object.contains(kZipkin.id)) {
      return false;
    }
    AddZipkinSpan(object, collector);
    return true;
  });
}

// Takes a row from `text`, by RFC 4180: cells in quotes may have commas, lines
// and doubled quotes. A quote within a cell that does not begin with one is a
// character like others: it would swallow the rows up to the next quote.
std::vector<std::string> TakeRow(absl::string_view& text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  size_t i = 0;
  for (; i < text.size() && (quoted || text[i] != '\n'); ++i) {
    const char c = text[i];
    if (c == '"' && (quoted || cells.back().empty())) {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += text[++i];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r' || quoted) {
      cells.back() += c;
    }
  }
  text.remove_prefix(i < text.size() ? i + 1 : i);
  return cells;
}

constexpr const char* kRequiredColumns[] = {
    "trace", "span", "service", "operation", "start_ns", "duration_ns"};
constexpr const char* kOptionalColumns[] = {
    "parent",        "kind",           "instance", "peer",
    "request_bytes", "response_bytes", "error"};

absl::Status CheckHeader(const std::vector<std::string>& header) {
  for (const std::string& name : header) {
    if (IsOneOf(kRequiredColumns, name) || IsOneOf(kOptionalColumns, name)) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("line 1: there is no column \"", name,
                     "\"; docs/products/import.md lists them"));
  }
  for (const char* name : kRequiredColumns) {
    if (absl::c_linear_search(header, name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("line 1: the column \"", name, "\" is missing; add it"));
  }
  return absl::OkStatus();
}

void AddCsvSpan(const Json& row, SpanCollector& collector) {
  Span span = SpanOf(row, kCsv);
  span.service = TextOf(row, "service");
  span.instance = TextOf(row, "instance");
  span.peer = TextOf(row, "peer");
  span.kind = SpanKindOf(TextOf(row, "kind"));
  TakeSize(TextOf(row, "request_bytes"), span.request_bytes);
  TakeSize(TextOf(row, "response_bytes"), span.response_bytes);
  const std::string error = TextOf(row, "error");
  span.failed = error == "1" || absl::EqualsIgnoreCase(error, "true");
  collector.Add(std::move(span), TimeOf(row, kCsv.start, 1),
                TimeOf(row, "duration_ns", 1));
}

// A table of spans with a header, for traces of any other program.
absl::Status ReadCsv(absl::string_view text, SpanCollector& collector) {
  // Spreadsheets begin with a mark of UTF-8.
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  const std::vector<std::string> header = TakeRow(text);
  if (absl::Status status = CheckHeader(header); !status.ok()) return status;
  while (!text.empty()) {
    const std::vector<std::string> cells = TakeRow(text);
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() != header.size()) {
      collector.Note(
          "rows with more or fewer cells than the header were left out");
      continue;
    }
    Json row;
    for (size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    AddCsvSpan(row, collector);
  }
  return absl::OkStatus();
}

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
