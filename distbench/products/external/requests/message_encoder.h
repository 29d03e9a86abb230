#ifndef DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/type_resolver.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_REQUESTS_MESSAGE_ENCODER_H_
