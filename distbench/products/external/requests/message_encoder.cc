#include "distbench/products/external/requests/message_encoder.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::external {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr char kUrlPrefix[] = "type.googleapis.com";

// As protobuf has it for JSON and for the wire format. Its text format has no
// limit of its own.
constexpr int kMaxDepth = 100;

// Keeps the first error of a parser.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

MessageEncoder::MessageEncoder(const Descriptor& type, bool is_json)
    : type_(type),
      is_json_(is_json),
      factory_(type.file()->pool()),
      prototype_(*factory_.GetPrototype(&type)),
      resolver_(google::protobuf::util::NewTypeResolverForDescriptorPool(
          kUrlPrefix, type.file()->pool())) {}

absl::Status MessageEncoder::Encode(const std::string& text,
                                    std::string& bytes) const {
  bytes.clear();
  if (is_json_) return EncodeJson(text, bytes);
  const std::unique_ptr<Message> message(prototype_.New());
  if (absl::Status parsed = ParseText(text, *message); !parsed.ok()) {
    return parsed;
  }
  message->SerializeToString(&bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Message>> MessageEncoder::Parse(
    const std::string& text) const {
  std::unique_ptr<Message> message(prototype_.New());
  if (!is_json_) {
    if (absl::Status parsed = ParseText(text, *message); !parsed.ok()) {
      return parsed;
    }
    return message;
  }
  std::string bytes;
  if (absl::Status encoded = EncodeJson(text, bytes); !encoded.ok()) {
    return encoded;
  }
  message->ParsePartialFromString(bytes);
  if (message->IsInitialized()) return message;
  return Error(absl::StrCat("required fields are missing: ",
                            message->InitializationErrorString()));
}

absl::Status MessageEncoder::EncodeJson(const std::string& text,
                                        std::string& bytes) const {
  const auto status = google::protobuf::util::JsonToBinaryString(
      resolver_.get(), absl::StrCat(kUrlPrefix, "/", type_.full_name()), text,
      &bytes);
  if (status.ok()) return absl::OkStatus();
  return Error(std::string(status.message()));
}

absl::Status MessageEncoder::ParseText(const std::string& text,
                                       Message& message) const {
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  if (parser.ParseFromString(text, &message)) return absl::OkStatus();
  return Error(error.text());
}

absl::Status MessageEncoder::Error(absl::string_view problem) const {
  std::vector<std::string> fields;
  for (int i = 0; i < type_.field_count(); ++i) {
    fields.push_back(type_.field(i)->name());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      absl::StripSuffix(problem, "."), "; ", type_.full_name(),
      fields.empty()
          ? " has no fields"
          : absl::StrCat(" has the fields ", config::QuotedList(fields))));
}

}  // namespace distbench::external
