#include <string>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/config/validate/validators.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// A location in a message. It is turned into a Path only if there is a problem,
// which is rare, while locations are many.
struct Place {
  const Place* outer;  // null: the test
  const FieldDescriptor* field;
  int index;  // -1: the field is not repeated
};

Path PathOf(const Path& test, const Place* place) {
  if (place == nullptr) return test;
  const Path field = PathOf(test, place->outer).Field(place->field->name());
  return place->index < 0 ? field : field.At(place->index);
}

class EncodingCheck {
 public:
  explicit EncodingCheck(const TestValidation& validation)
      : validation_(validation) {}

  void CheckMessage(const Message& message, const Place* outer) const {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (!field->is_repeated()) {
        CheckValue(message, {outer, field, -1});
        continue;
      }
      const int size = message.GetReflection()->FieldSize(message, field);
      for (int i = 0; i < size; ++i) CheckValue(message, {outer, field, i});
    }
  }

 private:
  void CheckValue(const Message& message, const Place& place) const {
    const Reflection& reflection = *message.GetReflection();
    const FieldDescriptor* const field = place.field;
    const int index = place.index;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CheckMessage(index < 0
                       ? reflection.GetMessage(message, field)
                       : reflection.GetRepeatedMessage(message, field, index),
                   &place);
    } else if (field->type() == FieldDescriptor::TYPE_STRING) {
      const std::string text =
          index < 0 ? reflection.GetString(message, field)
                    : reflection.GetRepeatedString(message, field, index);
      if (base::IsUtf8(text)) return;
      validation_.Add(PathOf(validation_.path(), &place),
                      "is not valid text; write it in UTF-8");
    }
  }

  const TestValidation& validation_;
};

}  // namespace

void ValidateEncoding(const TestValidation& validation) {
  EncodingCheck(validation).CheckMessage(validation.test(), nullptr);
}

}  // namespace distbench::config
