// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
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
  std::optional<int64_t> number;
  std::string text;
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

// The encoding is read field by field, so that files of all versions since
// 0.0.4 can be, and tensors are skipped:
// https://protobuf.dev/programming-guides/encoding
enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint64_t number = 0;
  int type = 0;
  uint64_t value = 0;       // of numbers
  absl::string_view bytes;  // of texts, messages and packed numbers
};

bool TakeVarint(absl::string_view& text, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text[0]);
    text.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeBytes(absl::string_view& text, uint64_t count,
               absl::string_view& bytes) {
  if (count > text.size()) return false;
  bytes = text.substr(0, count);
  text.remove_prefix(count);
  return true;
}

// Little-endian, as the format is, on any host.
uint64_t FixedNumber(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

// Takes the next field; false if the rest is not a field.
bool TakeField(absl::string_view& message, Field& field) {
  uint64_t key = 0;
  if (!TakeVarint(message, key)) return false;
  field = {.number = key >> 3, .type = static_cast<int>(key & 7)};
  uint64_t length = 0;
  switch (field.type) {
    case kVarint:
      return TakeVarint(message, field.value);
    case kBytes:
      return TakeVarint(message, length) &&
             TakeBytes(message, length, field.bytes);
    case kFixed64:
    case kFixed32:
      if (!TakeBytes(message, field.type == kFixed64 ? 8 : 4, field.bytes)) {
        return false;
      }
      field.value = FixedNumber(field.bytes);
      return true;
    default:
      return false;
  }
}

// Numbers of the schema.
constexpr uint64_t kAttrName = 1;
constexpr uint64_t kAttrDouble = 3;
constexpr uint64_t kAttrFloat = 5;
constexpr uint64_t kAttrSint32 = 15;
constexpr uint64_t kAttrSint64 = 17;
constexpr uint64_t kAttrSfixed32 = 23;
constexpr uint64_t kAttrBoolList = 28;
constexpr uint64_t kAttrString = 29;
constexpr uint64_t kAttrBytes = 31;
constexpr uint64_t kNodeId = 1;
constexpr uint64_t kNodeName = 2;
constexpr uint64_t kNodeType = 3;
constexpr uint64_t kNodeDataDeps = 5;
constexpr uint64_t kNodeDuration = 7;
constexpr uint64_t kNodeAttr = 10;
constexpr uint64_t kOldNodeAttr = 11;  // until version 0.0.3
constexpr uint64_t kMetadataVersion = 1;

int64_t IntegerOf(double number) {
  constexpr double kLimit = 9e18;
  if (std::isnan(number)) return 0;
  return std::llround(std::clamp(number, -kLimit, kLimit));
}

int64_t NumberOf(const Field& field) {
  switch (field.number) {
    case kAttrDouble: {
      double value = 0;
      std::memcpy(&value, &field.value, sizeof(value));
      return IntegerOf(value);
    }
    case kAttrFloat: {
      const auto bits = static_cast<uint32_t>(field.value);
      float value = 0;
      std::memcpy(&value, &bits, sizeof(value));
      return IntegerOf(value);
    }
    case kAttrSint32:
    case kAttrSint64:
      return static_cast<int64_t>(field.value >> 1) ^
             -static_cast<int64_t>(field.value & 1);
    case kAttrSfixed32:
      return static_cast<int32_t>(field.value);
    default:
      return static_cast<int64_t>(field.value);
  }
}

bool TakeNumbers(const Field& field, std::vector<uint64_t>& numbers) {
  if (field.type == kVarint) {
    numbers.push_back(field.value);
    return true;
  }
  absl::string_view packed = field.bytes;
  while (!packed.empty()) {
    uint64_t number = 0;
    if (!TakeVarint(packed, number)) return false;
    numbers.push_back(number);
  }
  return true;
}

bool TakeBoolList(absl::string_view list, AttributeValue& value) {
  Field field;
  while (!list.empty()) {
    std::vector<uint64_t> numbers;
    if (!TakeField(list, field) || !TakeNumbers(field, numbers)) return false;
    for (const uint64_t number : numbers) {
      value.has_false = value.has_false || number == 0;
    }
  }
  return true;
}

bool TakeAttribute(absl::string_view message, ChakraNode& node) {
  std::string name;
  AttributeValue value;
  Field field;
  while (!message.empty()) {
    if (!TakeField(message, field)) return false;
    if (field.number == kAttrName) {
      name = std::string(field.bytes);
    } else if (field.number == kAttrString || field.number == kAttrBytes) {
      value.text = std::string(field.bytes);
    } else if (field.number == kAttrBoolList) {
      if (!TakeBoolList(field.bytes, value)) return false;
    } else if (field.type != kBytes) {
      value.number = NumberOf(field);
    }
  }
  SetAttribute(name, value, node);
  return true;
}

absl::Status TakeNode(absl::string_view message, NodeSink& sink) {
  ChakraNode node;
  uint64_t type = 0;
  uint64_t duration_us = 0;
  Field field;
  bool is_whole = true;
  while (!message.empty() && is_whole) {
    is_whole = TakeField(message, field);
    if (!is_whole) break;
    switch (field.number) {
      case kNodeId:
        node.id = field.value;
        break;
      case kNodeName:
        node.name = std::string(field.bytes.substr(0, 2 * kMaxNameBytes));
        break;
      case kNodeType:
        type = field.value;
        break;
      case kNodeDataDeps:
        is_whole = TakeNumbers(field, node.data_deps);
        break;
      case kNodeDuration:
        duration_us = field.value;
        break;
      case kNodeAttr:
        is_whole = TakeAttribute(field.bytes, node);
        break;
      case kOldNodeAttr:
        return Invalid(absl::StrCat(
            "node ", node.id,
            " has attributes as Chakra's schema had them until version 0.0.3; "
            "convert the trace with tools of version 0.0.4 or later"));
      default:
        break;
    }
  }
  if (!is_whole) {
    return Invalid(absl::StrCat("node ", node.id,
                                " is damaged; is it a file of Chakra (.et)?"));
  }
  return sink.Add(std::move(node), type, duration_us);
}

// Files of the days between two versions have an attribute in place of the
// version.
std::string VersionOf(absl::string_view metadata) {
  Field field;
  while (!metadata.empty() && TakeField(metadata, field)) {
    if (field.number == kMetadataVersion) return VersionIn(field.bytes);
  }
  return "";
}

absl::Status ReadMessages(absl::string_view text, NodeSink& sink) {
  const size_t size = text.size();
  for (bool is_first = true; !text.empty(); is_first = false) {
    const size_t begin = size - text.size();
    uint64_t length = 0;
    absl::string_view message;
    if (!TakeVarint(text, length) || !TakeBytes(text, length, message)) {
      return Invalid(absl::StrCat(
          "is cut off: the message at byte ", begin, ", after ",
          sink.trace().nodes.size(), " nodes, has ", length, " bytes, and ",
          text.size(), " are left; copy the file again"));
    }
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
