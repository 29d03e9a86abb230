// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/type_resolver.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/requests/template.h"

namespace distbench::external {

// Encodes messages of one type from JSON or from protobuf's text format.
// Immutable; thread-safe.
class MessageEncoder {
 public:
  // The descriptor must outlive this.
  MessageEncoder(const google::protobuf::Descriptor& type, bool is_json);

  // Sets `bytes` to the wire format of the message. The error names the field
  // that is wrong, or
  // unknown.
  absl::Status Encode(const std::string& text, std::string& bytes) const;

  // Same, for the message itself. Also checks that required fields are there,
  // which Encode() does for the text format only. The message must not outlive
  // this.
  absl::StatusOr<std::unique_ptr<google::protobuf::Message>> Parse(
      const std::string& text) const;

  // Whether these are a message in the wire format.
  absl::Status CheckBytes(const std::string& bytes) const;

 private:
  absl::Status EncodeJson(const std::string& text, std::string& bytes) const;
  absl::Status ParseText(const std::string& text,
                         google::protobuf::Message& message) const;
  absl::Status Error(absl::string_view problem) const;

  const google::protobuf::Descriptor& type_;
  const bool is_json_;
  mutable google::protobuf::DynamicMessageFactory factory_;
  const google::protobuf::Message& prototype_;
  const std::unique_ptr<google::protobuf::util::TypeResolver> resolver_;
};

// A message in which the variables of a template are parts of strings, or whole
// integers. Only these fields are set for each request, which takes about a
// quarter of the time of parsing the template's text. Not thread-safe.
class PatchedMessage {
 public:
  // Returns null if there are no variables, or some are something else: a part
  // of the structure, a name, a key of a map, an enum, bytes, or inside a
  // message of google.protobuf, whose JSON has rules of its own. Both arguments
  // must outlive the result.
  static std::unique_ptr<PatchedMessage> Make(const MessageEncoder& encoder,
                                              const Template& text);

  // Sets `bytes` to the wire format of the message for a request. Returns false
  // if parsing its text might give something else: a value is not a plain
  // integer or is not ASCII.
  [[nodiscard]] bool Encode(const TemplateRequest& request, std::string& bytes);

 private:
  // A field, or an element of a repeated field, that contains variables.
  struct Leaf {
    google::protobuf::Message* parent = nullptr;
    const google::protobuf::FieldDescriptor* field = nullptr;
    int element = -1;  // -1: not repeated
    std::vector<int> variables = {};
    // For strings: before, between and behind the variables.
    std::vector<std::string> literals = {};
  };

  explicit PatchedMessage(const Template& text);

  void FindLeaves(google::protobuf::Message& message);
  void FindLeavesIn(google::protobuf::Message& parent,
                    const google::protobuf::FieldDescriptor& field,
                    int element);
  int VariableOf(absl::string_view text) const;
  void AddString(const std::string& value, Leaf leaf);
  void AddInteger(const std::string& value, Leaf leaf);
  bool FoundEachOnce() const;

  bool PatchString(const Leaf& leaf, const TemplateRequest& request);
  bool PatchInteger(const Leaf& leaf, const TemplateRequest& request);

  const Template& text_;
  // What stands for each variable while leaves are looked for.
  std::vector<std::string> marks_;
  std::unique_ptr<google::protobuf::Message> message_;
  std::vector<Leaf> leaves_;
  std::string value_;  // kept to reuse its memory
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_
