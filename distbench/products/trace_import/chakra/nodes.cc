// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/nodes.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"
#include "distbench/products/trace_import/chakra/chakra_trace.pb.h"

namespace distbench::trace_import {
namespace {

constexpr size_t kMaxNameBytes = 80;

// By the numbers of ChakraType.
constexpr std::array<absl::string_view, 8> kTypes = {
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};

absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// The text, if it is one as versions are.
std::string VersionIn(absl::string_view text) {
  constexpr size_t kLongest = 40;
  const bool is_version =
      text.size() <= kLongest && absl::c_all_of(text, [](unsigned char c) {
        return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
      });
  return is_version ? std::string(text) : "";
}

// The value of an attribute: every number as an integer, whichever type a
// version of a tool has written it with.
struct AttributeValue {
  std::optional<int64_t> number = {};
  std::string text = {};
  bool has_false = false;  // a list of which an element is false
};

void SetAttribute(absl::string_view name, const AttributeValue& value,
                  ChakraNode& node) {
  if (name == "is_cpu_op") {
    node.is_on_host = value.number.value_or(0) != 0;
  } else if (name == "stream") {
    node.stream = value.number.value_or(0);
  } else if (name == "tid") {
    node.thread = value.number.value_or(0);
  } else if (name == "num_ops") {
    node.has_operations = value.number.value_or(0) > 0;
  } else if (name == "comm_type") {
    node.comm_type = value.number;
  } else if (name == "comm_size") {
    node.comm_size = value.number;
  } else if (name == "comm_src") {
    node.comm_src = value.number;
  } else if (name == "comm_dst") {
    node.comm_dst = value.number;
  } else if (name == "comm_tag") {
    node.comm_tag = value.number.value_or(0);
  } else if (name == "pg_name") {
    node.group = value.number ? absl::StrCat(*value.number) : value.text;
    // As PyTorch calls the group of all ranks.
    if (node.group == "0") node.group.clear();
  } else if (name == "involved_dim") {
    node.has_partial_dimensions = value.has_false;
  }
}

// Adds nodes to a trace, and says what is wrong with one.
class NodeSink {
 public:
  NodeSink(int64_t max_nodes, ChakraTrace& trace)
      : max_nodes_(max_nodes), trace_(trace) {}

  absl::Status Add(ChakraNode node, uint64_t type, uint64_t duration_us) {
    if (type >= kTypes.size()) return UnknownType(node, absl::StrCat(type));
    if (duration_us > static_cast<uint64_t>(kMaxDurationUs)) {
      return Invalid(
          absl::StrCat("node ", node.id, " takes ", duration_us,
                       " us, more than a day; correct its duration"));
    }
    if (static_cast<int64_t>(trace_.nodes.size()) >= max_nodes_) {
      return Invalid(absl::StrCat("there are more than ", max_nodes_,
                                  " nodes; cut the trace at one step of the "
                                  "job, or allow more with --max_spans"));
    }
    node.type = static_cast<ChakraType>(type);
    node.duration_us = static_cast<int64_t>(duration_us);
    if (node.type < ChakraType::kSend) {
      node.name.clear();
    } else if (node.name.size() > kMaxNameBytes) {
      node.name.resize(kMaxNameBytes);
    }
    trace_.nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  static absl::Status UnknownType(const ChakraNode& node,
                                  absl::string_view type) {
    return Invalid(absl::StrCat(
        "node ", node.id, " is of type ", type, ", which Chakra's schema does ",
        "not have; convert the trace with tools of its version 1.0.0"));
  }

  ChakraTrace& trace() { return trace_; }

 private:
  const int64_t max_nodes_;
  ChakraTrace& trace_;
};

// ---- Protobuf ---------------------------------------------------------------

int64_t IntegerOf(double number) {
  constexpr double kLimit = 9e18;
  if (std::isnan(number)) return 0;
  return std::llround(std::clamp(number, -kLimit, kLimit));
}

AttributeValue ValueOf(const ChakraAttribute& attribute) {
  switch (attribute.value_case()) {
    case ChakraAttribute::kDoubleValue:
      return {.number = IntegerOf(attribute.double_value())};
    case ChakraAttribute::kFloatValue:
      return {.number = IntegerOf(attribute.float_value())};
    case ChakraAttribute::kInt32Value:
      return {.number = attribute.int32_value()};
    case ChakraAttribute::kInt64Value:
      return {.number = attribute.int64_value()};
    case ChakraAttribute::kUint32Value:
      return {.number = attribute.uint32_value()};
    case ChakraAttribute::kUint64Value:
      return {.number = static_cast<int64_t>(attribute.uint64_value())};
    case ChakraAttribute::kSint32Value:
      return {.number = attribute.sint32_value()};
    case ChakraAttribute::kSint64Value:
      return {.number = attribute.sint64_value()};
    case ChakraAttribute::kFixed32Value:
      return {.number = attribute.fixed32_value()};
    case ChakraAttribute::kFixed64Value:
      return {.number = static_cast<int64_t>(attribute.fixed64_value())};
    case ChakraAttribute::kSfixed32Value:
      return {.number = attribute.sfixed32_value()};
    case ChakraAttribute::kSfixed64Value:
      return {.number = attribute.sfixed64_value()};
    case ChakraAttribute::kBoolValue:
      return {.number = attribute.bool_value() ? 1 : 0};
    case ChakraAttribute::kBools:
      return {.has_false =
                  absl::c_linear_search(attribute.bools().values(), false)};
    case ChakraAttribute::kStringValue:
      return {.text = attribute.string_value()};
    case ChakraAttribute::kBytesValue:
      return {.text = attribute.bytes_value()};
    case ChakraAttribute::VALUE_NOT_SET:
      return {};
  }
  return {};
}

absl::Status TakeNode(absl::string_view text, NodeSink& sink) {
  ChakraNodeMessage message;
  // Of a message that ends early, what came before has been read.
  const bool is_whole =
      message.ParseFromArray(text.data(), static_cast<int>(text.size()));
  if (!is_whole) {
    return Invalid(absl::StrCat("node ", message.id(),
                                " is damaged; is it a file of Chakra (.et)?"));
  }
  if (message.has_old_attribute()) {
    return Invalid(absl::StrCat(
        "node ", message.id(),
        " has attributes as Chakra's schema had them until version 0.0.3; "
        "convert the trace with tools of version 0.0.4 or later"));
  }
  ChakraNode node;
  node.id = message.id();
  node.name = message.name();
  node.data_deps.assign(message.data_deps().begin(), message.data_deps().end());
  for (const ChakraAttribute& attribute : message.attributes()) {
    SetAttribute(attribute.name(), ValueOf(attribute), node);
  }
  return sink.Add(std::move(node), message.type(), message.duration_us());
}

// Empty if the message is none.
std::string VersionOf(absl::string_view text) {
  ChakraMetadata metadata;
  const bool is_whole =
      metadata.ParseFromArray(text.data(), static_cast<int>(text.size()));
  return is_whole ? VersionIn(metadata.version()) : "";
}

absl::Status ReadMessages(absl::string_view text, NodeSink& sink) {
  google::protobuf::io::CodedInputStream lengths(
      reinterpret_cast<const uint8_t*>(text.data()),
      static_cast<int>(text.size()));
  size_t begin = 0;
  for (bool is_first = true; begin < text.size(); is_first = false) {
    uint64_t length = 0;
    const bool has_length = lengths.ReadVarint64(&length);
    const auto rest =
        text.substr(static_cast<size_t>(lengths.CurrentPosition()));
    if (!has_length || length > rest.size()) {
      return Invalid(absl::StrCat(
          "is cut off: the message at byte ", begin, ", after ",
          sink.trace().nodes.size(), " nodes, has ", length, " bytes, and ",
          rest.size(), " are left; copy the file again"));
    }
    const absl::string_view message = rest.substr(0, length);
    lengths.Skip(static_cast<int>(length));
    begin = static_cast<size_t>(lengths.CurrentPosition());
    if (is_first) {
      sink.trace().version = VersionOf(message);
      continue;
    }
    absl::Status status = TakeNode(message, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ---- JSON -------------------------------------------------------------------

using Json = nlohmann::json;

// A number, or a text with one, as protobuf's JSON has large ones.
std::optional<int64_t> JsonNumber(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned()) {
    return static_cast<int64_t>(value.get<uint64_t>());
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) return IntegerOf(value.get<double>());
  int64_t number = 0;
  if (value.is_string() &&
      absl::SimpleAtoi(value.get_ref<const std::string&>(), &number)) {
    return number;
  }
  return std::nullopt;
}

AttributeValue JsonAttribute(const Json& value) {
  AttributeValue result = {.number = JsonNumber(value)};
  if (value.is_string()) result.text = value.get<std::string>();
  if (!value.is_structured()) return result;
  const Json& list = value.is_object() ? value.value("values", Json()) : value;
  for (const Json& element : list) {
    const auto number = JsonNumber(element);
    result.has_false = result.has_false || (number && *number == 0);
  }
  return result;
}

// The member of one of the names; null if there is none.
const Json& MemberOf(const Json& object,
                     std::initializer_list<const char*> names) {
  static const auto& none = *new Json();
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end()) return *found;
  }
  return none;
}

// A name or a number; none is INVALID_NODE, as protobuf leaves out what is 0.
std::optional<uint64_t> TypeOf(const Json& type) {
  if (type.is_null()) return 0;
  if (const auto number = JsonNumber(type)) {
    return static_cast<uint64_t>(*number);
  }
  if (!type.is_string()) return std::nullopt;
  const auto found = absl::c_find(kTypes, type.get_ref<const std::string&>());
  if (found == kTypes.end()) return std::nullopt;
  return found - kTypes.begin();
}

// Attributes of protobuf's JSON, such as {"name": "comm_size", "int64Val":
// "8"}.
void TakeJsonAttributes(const Json& attributes, ChakraNode& node) {
  if (!attributes.is_array()) return;
  for (const Json& attribute : attributes) {
    if (!attribute.is_object()) continue;
    const Json& name = MemberOf(attribute, {"name"});
    if (!name.is_string()) continue;
    for (const auto& [key, value] : attribute.items()) {
      if (absl::EndsWith(key, "Val") || absl::EndsWith(key, "List")) {
        SetAttribute(name.get_ref<const std::string&>(), JsonAttribute(value),
                     node);
      }
    }
  }
}

absl::Status TakeJsonNode(const Json& object, NodeSink& sink) {
  ChakraNode node;
  node.id = static_cast<uint64_t>(
      JsonNumber(MemberOf(object, {"id", "Id"})).value_or(0));
  const Json& name = MemberOf(object, {"name", "Name"});
  if (name.is_string()) node.name = name.get<std::string>();
  const Json& deps = MemberOf(object, {"dataDeps", "data_deps"});
  if (deps.is_array()) {
    for (const Json& dep : deps) {
      node.data_deps.push_back(
          static_cast<uint64_t>(JsonNumber(dep).value_or(0)));
    }
  }
  // The feeder's JSON has attributes as members.
  for (const auto& [key, value] : object.items()) {
    SetAttribute(key, JsonAttribute(value), node);
  }
  TakeJsonAttributes(MemberOf(object, {"attr"}), node);
  const auto duration = JsonNumber(
      MemberOf(object, {"durationMicros", "duration_micros", "runtime"}));
  const Json& type_member = MemberOf(object, {"type", "NodeType"});
  const auto type = TypeOf(type_member);
  if (!type) return NodeSink::UnknownType(node, base::DumpJson(type_member));
  return sink.Add(std::move(node), *type,
                  static_cast<uint64_t>(duration.value_or(0)));
}

// Takes the next document of several that follow one another without anything
// between them: up to the brace that closes its first one.
absl::string_view TakeDocument(absl::string_view& text) {
  int depth = 0;
  bool is_in_text = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_text) {
      if (c == '\\') ++i;
      is_in_text = c != '"';
    } else if (c == '"') {
      is_in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth <= 0) {
      ++i;
      break;
    }
  }
  const absl::string_view document = text.substr(0, i);
  text.remove_prefix(document.size());
  return document;
}

// The depth in the document of what is in an array of its members.
constexpr int kElementDepth = 2;

absl::Status ReadDocument(absl::string_view document, bool is_first,
                          NodeSink& sink) {
  absl::Status status;
  bool has_graph = false;
  bool has_host_operators = false;
  const auto take = [&](int depth, Json::parse_event_t event, Json& object) {
    if (event != Json::parse_event_t::object_end || depth != kElementDepth) {
      return true;
    }
    if (object.contains("NodeType")) {
      has_graph = true;
      if (status.ok()) status = TakeJsonNode(object, sink);
      return false;
    }
    has_host_operators = has_host_operators || object.contains("inputs");
    return !object.contains("inputs");
  };
  const Json rest = Json::parse(document.begin(), document.end(), take,
                                /*allow_exceptions=*/false);
  if (rest.is_discarded()) {
    return Invalid(absl::StrCat("is not JSON after ", sink.trace().nodes.size(),
                                " nodes; copy the file again"));
  }
  if (!status.ok()) return status;
  if (has_host_operators) {
    return Invalid(
        "is a trace of PyTorch's host operators, without times and "
        "dependencies; convert it with chakra_trace_link and chakra_converter");
  }
  if (has_graph || !rest.is_object() || rest.contains("workload_graph")) {
    return absl::OkStatus();
  }
  if (!is_first) return TakeJsonNode(rest, sink);
  const Json& version = MemberOf(rest, {"version"});
  if (version.is_string()) {
    sink.trace().version = VersionIn(version.get_ref<const std::string&>());
  }
  return absl::OkStatus();
}

absl::Status ReadJson(absl::string_view text, NodeSink& sink) {
  text = absl::StripAsciiWhitespace(text);
  for (bool is_first = true; !text.empty(); is_first = false) {
    absl::Status status = ReadDocument(TakeDocument(text), is_first, sink);
    if (!status.ok()) return status;
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return absl::OkStatus();
}

// A first message of 123 bytes begins with a brace, too, but what follows it is
// no JSON.
bool IsJson(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "{")) return false;
  text = absl::StripLeadingAsciiWhitespace(text);
  return absl::StartsWith(text, "\"") || absl::StartsWith(text, "}");
}

}  // namespace

absl::StatusOr<ChakraTrace> ReadChakra(absl::string_view text,
                                       int64_t max_nodes) {
  if (text.empty()) return Invalid("is empty");
  if (absl::StartsWith(text, "\x1f\x8b")) {
    return Invalid("is compressed by gzip; decompress it first");
  }
  ChakraTrace trace;
  NodeSink sink(max_nodes, trace);
  absl::Status status =
      IsJson(text) ? ReadJson(text, sink) : ReadMessages(text, sink);
  if (!status.ok()) return status;
  if (trace.nodes.empty()) {
    return Invalid("has no nodes; is it a trace of Chakra?");
  }
  return trace;
}

}  // namespace distbench::trace_import
