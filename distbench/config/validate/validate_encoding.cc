#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/config/validate/validators.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// The number of bytes of a code point that begins with this byte; 0 if no code
// point does.
int SequenceLength(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// Whether the second byte is valid: the encoding is not overlong, not a
// surrogate and not beyond the last code point.
bool IsSecondByte(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second < 0xc0;
    case 0xed:
      return second >= 0x80 && second < 0xa0;
    case 0xf0:
      return second >= 0x90 && second < 0xc0;
    case 0xf4:
      return second >= 0x80 && second < 0x90;
    default:
      return second >= 0x80 && second < 0xc0;
  }
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const int length = SequenceLength(text[0]);
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !IsSecondByte(text[0], text[1])) return false;
    for (int i = 2; i < length; ++i) {
      if ((text[i] & 0xc0) != 0x80) return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

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
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      const std::string text =
          index < 0 ? reflection.GetString(message, field)
                    : reflection.GetRepeatedString(message, field, index);
      if (IsUtf8(text)) return;
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

}  // namespace distbench
