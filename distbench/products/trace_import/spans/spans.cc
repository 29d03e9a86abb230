// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/spans/spans.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
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

  // Takes a span with times in nanoseconds, or leaves it out and notes why. A
  // missing time is negative.
  void Add(Span span, int64_t start_ns, int64_t duration_ns) {
    if (span.trace.empty() || span.id.empty()) {
      return Note("spans without a trace or an id were left out");
    }
    if (start_ns < 0 || duration_ns < 0 || duration_ns > kLatestNs - start_ns) {
      return Note("spans without a possible start and duration were left out");
    }
    span.start_ns = start_ns;
    span.end_ns = start_ns + duration_ns;
    overflowed_ = overflowed_ || set_.spans.size() >= max_spans_;
    if (!overflowed_) set_.spans.push_back(std::move(span));
  }

  void Note(const std::string& note) { ++set_.notes[note]; }

  // The spans since the last call. In some formats, the process that spans are
  // of is said after them.
  absl::Span<Span> TakeWithoutOwner() {
    const size_t begin = std::exchange(without_owner_, set_.spans.size());
    return absl::MakeSpan(set_.spans).subspan(begin);
  }

  size_t span_count() const { return set_.spans.size(); }

  // Drops all spans but the first ones.
  void DropAllBut(size_t count) {
    set_.spans.resize(count);
    without_owner_ = std::min(without_owner_, count);
  }

  // Whether there were more spans than allowed; the rest was dropped.
  bool overflowed() const { return overflowed_; }

 private:
  const int64_t max_spans_;
  SpanSet& set_;
  size_t without_owner_;
  bool overflowed_ = false;
};

// Takes what is in an object, and returns whether that was all.
using TakeObject = bool (*)(const Json& object, SpanCollector& collector);

// Takes the objects of a document, inner ones first. One whose contents were
// taken is dropped from what is around it.
absl::Status ReadDocument(absl::string_view text, TakeObject take,
                          SpanCollector& collector) {
  const auto keep = [&](int /*depth*/, Json::parse_event_t event,
                        Json& parsed) {
    return event != Json::parse_event_t::object_end || !take(parsed, collector);
  };
  try {
    [[maybe_unused]] const Json rest =
        Json::parse(text.begin(), text.end(), keep);
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

// Whether each line may be a document of its own. The first one may be broken:
// of an object that is written on several lines, the second is no JSON.
bool IsJsonLines(absl::string_view text) {
  const auto is_json = [](absl::string_view line) {
    return Json::accept(line.begin(), line.end());
  };
  const absl::string_view first = TakeLine(text);
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return false;
  return is_json(first) ||
         (!absl::StartsWith(first, "[") && is_json(TakeLine(text)));
}

// The same for a text of one document, or of one on each line. A line that is
// not JSON is noted if others are, and dropped with the spans in its beginning:
// what says whose they are may be missing.
absl::Status ReadJson(absl::string_view text, TakeObject take,
                      SpanCollector& collector) {
  text = absl::StripAsciiWhitespace(text);
  if (!IsJsonLines(text)) return ReadDocument(text, take, collector);
  while (!text.empty()) {
    const absl::string_view line = TakeLine(text);
    const size_t before = collector.span_count();
    if (line.empty() || ReadDocument(line, take, collector).ok()) continue;
    collector.DropAllBut(before);
    collector.Note("lines that are not JSON were left out");
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

// A number, or a text that is one, of a unit; fractions are rounded. -1 if
// there is none, or it is negative or after kLatestNs.
int64_t TimeOf(const Json& object, const std::string& key, int64_t unit_ns) {
  const std::string text = TextOf(object, key);
  int64_t whole;
  if (absl::SimpleAtoi(text, &whole)) {
    return whole < 0 || whole > kLatestNs / unit_ns ? -1 : whole * unit_ns;
  }
  double number;
  if (!absl::SimpleAtod(text, &number)) return -1;
  const double ns = number * static_cast<double>(unit_ns);
  return ns >= 0 && ns <= kLatestNs ? std::llround(ns) : -1;
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

// A size of a message; kNoSize if it is none or larger than any of distbench.
int64_t SizeOf(const std::string& text) {
  constexpr int64_t kMaxMessageBytes = int64_t{1} << 31;
  int64_t bytes;
  return absl::SimpleAtoi(text, &bytes) && bytes >= 0 &&
                 bytes <= kMaxMessageBytes
             ? bytes
             : Span::kNoSize;
}

using Attributes = absl::flat_hash_map<std::string, std::string>;

// Attributes (tags): an object, or a list of keys and values, which may say
// their types, as in {"intValue": "1"}.
Attributes AttributesOf(const Json& json) {
  Attributes attributes;
  for (const auto& [name, member] : json.items()) {
    if (json.is_object()) {
      attributes[name] = AsText(member);
    } else if (member.is_object()) {
      const Json& value = MemberOf(member, "value");
      attributes[TextOf(member, "key")] =
          AsText(value.is_object() && !value.empty() ? *value.begin() : value);
    }
  }
  return attributes;
}

// The first of these attributes that is there and not empty.
std::string FirstOf(const Attributes& attributes,
                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto attribute = attributes.find(name);
    if (attribute != attributes.end() && !attribute->second.empty()) {
      return attribute->second;
    }
  }
  return "";
}

// The first of these attributes that is a size; kNoSize if none is.
int64_t FirstSizeOf(const Attributes& attributes,
                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const int64_t bytes = SizeOf(FirstOf(attributes, {name}));
    if (bytes != Span::kNoSize) return bytes;
  }
  return Span::kNoSize;
}

// A span with what its members of these names say; its attributes have
// OpenTelemetry's, OpenTracing's and Zipkin's names.
Span SpanOf(const Json& object, const char* trace, const char* id,
            const char* parent, const char* operation, const char* attributes) {
  const Attributes all = AttributesOf(MemberOf(object, attributes));
  Span span;
  span.trace = TextOf(object, trace);
  span.id = TextOf(object, id);
  span.parent = TextOf(object, parent);
  span.operation = TextOf(object, operation);
  span.kind = SpanKindOf(FirstOf(all, {"span.kind"}));
  span.peer = FirstOf(all, {"peer.service", "server.address", "net.peer.name",
                            "peer.hostname", "db.system", "messaging.system"});
  span.request_bytes =
      FirstSizeOf(all, {"http.request.body.size", "http.request_content_length",
                        "http.request.size", "distbench.request_bytes"});
  span.response_bytes = FirstSizeOf(
      all, {"http.response.body.size", "http.response_content_length",
            "http.response.size", "distbench.response_bytes"});
  // Zipkin's value is a message, which may be empty, and OpenTracing's a truth.
  const auto error = all.find("error");
  span.failed = (error != all.end() && error->second != "false") ||
                FirstOf(all, {"otel.status_code"}) == "ERROR";
  return span;
}

// Takes what the attributes of its process say about a span.
void TakeProcess(const Json& attributes, Span& span) {
  const Attributes all = AttributesOf(attributes);
  if (span.service.empty()) span.service = FirstOf(all, {"service.name"});
  span.instance = FirstOf(all, {"service.instance.id", "k8s.pod.name",
                                "container.id", "host.name", "hostname", "ip"});
}

// ---- Formats ----------------------------------------------------------------
//
// Each a TakeObject, or ReadCsv().

// As OpenTelemetry's collector and `distbench report --format=otlp` write it:
// a resource after its spans.
bool TakeOtlp(const Json& object, SpanCollector& collector) {
  if (object.contains("startTimeUnixNano") && object.contains("spanId")) {
    Span span = SpanOf(object, "traceId", "spanId", "parentSpanId", "name",
                       "attributes");
    span.kind = SpanKindOf(TextOf(object, "kind"));
    const std::string code = TextOf(MemberOf(object, "status"), "code");
    span.failed = code == "2" || code == "STATUS_CODE_ERROR";
    for (const Json& link : MemberOf(object, "links")) {
      span.links.push_back({TextOf(link, "traceId"), TextOf(link, "spanId")});
    }
    const int64_t start_ns = TimeOf(object, "startTimeUnixNano", 1);
    const int64_t end_ns = TimeOf(object, "endTimeUnixNano", 1);
    collector.Add(std::move(span), start_ns, end_ns - start_ns);
    return true;
  }
  if (!object.contains("scopeSpans") &&
      !object.contains("instrumentationLibrarySpans")) {
    return false;
  }
  Span process;
  TakeProcess(MemberOf(MemberOf(object, "resource"), "attributes"), process);
  for (Span& span : collector.TakeWithoutOwner()) {
    span.service = process.service;
    span.instance = process.instance;
  }
  return true;
}

// Takes what a span of Jaeger refers to. A child's parent is in its trace, and
// waits for it.
void TakeReferences(const Json& references, Span& span) {
  bool is_child = false;
  for (const Json& reference : references) {
    std::string trace = TextOf(reference, "traceID");
    std::string id = TextOf(reference, "spanID");
    if (TextOf(reference, "refType") != "CHILD_OF") {
      span.links.push_back({std::move(trace), std::move(id)});
    } else if (trace == span.trace && !std::exchange(is_child, true)) {
      span.parent = std::move(id);
    }
  }
}

// As Jaeger's user interface and its HTTP interface give it: a trace's
// processes after its spans.
bool TakeJaeger(const Json& object, SpanCollector& collector) {
  if (object.contains("spanID") && object.contains("startTime")) {
    Span span = SpanOf(object, "traceID", "spanID", "parentSpanID",
                       "operationName", "tags");
    TakeReferences(MemberOf(object, "references"), span);
    // Until the processes are known.
    span.service = TextOf(object, "processID");
    collector.Add(std::move(span), TimeOf(object, "startTime", base::kNsPerUs),
                  TimeOf(object, "duration", base::kNsPerUs));
    return true;
  }
  if (!object.contains("processes") || !object.contains("spans")) return false;
  for (Span& span : collector.TakeWithoutOwner()) {
    const Json& process = MemberOf(MemberOf(object, "processes"), span.service);
    span.service = TextOf(process, "serviceName");
    TakeProcess(MemberOf(process, "tags"), span);
  }
  return true;
}

// Version 2: a list of spans, or a list of such lists.
bool TakeZipkin(const Json& object, SpanCollector& collector) {
  if (!object.contains("traceId") || !object.contains("id")) return false;
  Span span = SpanOf(object, "traceId", "id", "parentId", "name", "tags");
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
    span.parent = std::exchange(span.id, IdOfServer(span.id));
    span.shared_id = true;
  }
  // A duration of less than a microsecond is absent.
  const bool is_instant = MemberOf(object, "duration").is_null();
  collector.Add(std::move(span), TimeOf(object, "timestamp", base::kNsPerUs),
                is_instant ? 0 : TimeOf(object, "duration", base::kNsPerUs));
  return true;
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

// The first ones are required.
constexpr size_t kRequiredColumns = 6;
constexpr const char* kColumns[] = {
    "trace",         "span",           "service", "operation", "start_ns",
    "duration_ns",   "parent",         "kind",    "instance",  "peer",
    "request_bytes", "response_bytes", "error"};

absl::Status CheckHeader(const std::vector<std::string>& header) {
  for (const std::string& name : header) {
    if (absl::c_linear_search(kColumns, name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("line 1: there is no column \"", name,
                     "\"; docs/products/import.md lists them"));
  }
  for (const char* name : absl::MakeSpan(kColumns).first(kRequiredColumns)) {
    if (absl::c_linear_search(header, name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("line 1: the column \"", name, "\" is missing; add it"));
  }
  return absl::OkStatus();
}

void AddCsvSpan(const Json& row, SpanCollector& collector) {
  Span span;
  span.trace = TextOf(row, "trace");
  span.id = TextOf(row, "span");
  span.parent = TextOf(row, "parent");
  span.service = TextOf(row, "service");
  span.operation = TextOf(row, "operation");
  span.instance = TextOf(row, "instance");
  span.peer = TextOf(row, "peer");
  span.kind = SpanKindOf(TextOf(row, "kind"));
  span.request_bytes = SizeOf(TextOf(row, "request_bytes"));
  span.response_bytes = SizeOf(TextOf(row, "response_bytes"));
  const std::string error = TextOf(row, "error");
  span.failed = error == "1" || absl::EqualsIgnoreCase(error, "true");
  collector.Add(std::move(span), TimeOf(row, "start_ns", 1),
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

  TakeObject take;  // of a format in JSON; null: it is CSV
};

constexpr TraceFormat kFormats[] = {
    {"otlp", TakeOtlp},
    {"jaeger", TakeJaeger},
    {"zipkin", TakeZipkin},
    {"csv", nullptr},
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
  const auto* const known = absl::c_find_if(
      kFormats, [&](const TraceFormat& each) { return each.name == format; });
  if (known == std::end(kFormats)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no trace format \"", format, "\""));
  }
  if (absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source, " is empty"));
  }
  const size_t spans_before = set.spans.size();
  SpanCollector collector(max_spans, set);
  const absl::Status status = known->take == nullptr
                                  ? ReadCsv(text, collector)
                                  : ReadJson(text, known->take, collector);
  std::string error(status.message());
  if (status.ok() && collector.overflowed()) {
    error = absl::StrCat(
        "there are more than ", max_spans,
        " spans; give fewer files, or allow more with --max_spans");
  } else if (status.ok() && set.spans.size() == spans_before) {
    error = absl::StrCat("has no usable spans in the format ", format,
                         "; is it of another format?");
  }
  if (error.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(source, ": ", error));
}

}  // namespace distbench::trace_import
