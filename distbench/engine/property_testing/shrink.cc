// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/property_testing/shrink.h"

#include <memory>
#include <vector>

namespace distbench::engine {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

class Shrinker {
 public:
  Shrinker(Message& root, int max_attempts, absl::FunctionRef<bool()> fails)
      : root_(root), attempts_left_(max_attempts), fails_(fails) {}

  void Run() {
    do {
      progress_ = false;
      ShrinkMessage(root_);
    } while (progress_ && attempts_left_ > 0);
  }

 private:
  void ShrinkMessage(Message& message) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->is_repeated()) {
        ShrinkRepeated(message, *field);
      } else if (!Try(message,
                      [&] { reflection.ClearField(&message, field); }) &&
                 field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        ShrinkMessage(*reflection.MutableMessage(&message, field));
      }
    }
  }

  void ShrinkRepeated(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    for (int i = reflection.FieldSize(message, &field) - 1; i >= 0; --i) {
      const bool removed = Try(message, [&] {
        const int last = reflection.FieldSize(message, &field) - 1;
        for (int j = i; j < last; ++j) {
          reflection.SwapElements(&message, &field, j, j + 1);
        }
        reflection.RemoveLast(&message, &field);
      });
      if (!removed && !field.is_map() &&
          field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        ShrinkMessage(*reflection.MutableRepeatedMessage(&message, &field, i));
      }
    }
  }

  // Changes the message, but keeps the change only if the message still fails.
  template <typename Change>
  bool Try(Message& message, Change change) {
    if (attempts_left_ == 0) return false;
    --attempts_left_;
    const std::unique_ptr<Message> before(message.New());
    before->CopyFrom(message);
    change();
    if (fails_()) {
      progress_ = true;
      return true;
    }
    message.CopyFrom(*before);
    return false;
  }

  Message& root_;
  int attempts_left_;
  const absl::FunctionRef<bool()> fails_;
  bool progress_ = false;
};

}  // namespace

void Shrink(Message& message, int max_attempts,
            absl::FunctionRef<bool()> fails) {
  Shrinker(message, max_attempts, fails).Run();
}

}  // namespace distbench::engine
