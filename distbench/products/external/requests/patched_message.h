#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_PATCHED_MESSAGE_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_PATCHED_MESSAGE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/external/requests/message_encoder.h"
#include "distbench/products/external/requests/template.h"

namespace distbench::external {

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

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_PATCHED_MESSAGE_H_
