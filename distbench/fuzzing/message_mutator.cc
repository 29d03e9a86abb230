// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/fuzzing/message_mutator.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::fuzzing {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

constexpr int64_t kNumbers[] = {0,
                                -1,
                                1,
                                2,
                                3,
                                7,
                                1000,
                                std::numeric_limits<int32_t>::max(),
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
constexpr float kFractions[] = {0,
                                1,
                                0.5,
                                -1,
                                2,
                                std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()};

// Collects every string and every message inside `message`, except map entries.
void Collect(Message& message, std::vector<Message*>* messages,
             std::vector<std::string>* strings) {
  if (messages != nullptr) messages->push_back(&message);
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_map()) continue;
    const int size =
        field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        if (strings == nullptr) continue;
        strings->push_back(field->is_repeated()
                               ? reflection.GetRepeatedString(message, field, i)
                               : reflection.GetString(message, field));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Collect(*(field->is_repeated()
                      ? reflection.MutableRepeatedMessage(&message, field, i)
                      : reflection.MutableMessage(&message, field)),
                messages, strings);
      }
    }
  }
}

}  // namespace

Message& MessageMutator::PickMessage(Message& root) {
  std::vector<Message*> messages;
  Collect(root, &messages, nullptr);
  return *messages[Pick(messages.size())];
}

void MessageMutator::Mutate(Message& root) {
  std::vector<std::string> strings = words_;
  strings.push_back("");
  Collect(root, nullptr, &strings);
  Message& message = PickMessage(root);
  const auto* descriptor = message.GetDescriptor();
  if (descriptor->field_count() == 0) return;
  const FieldDescriptor& field =
      *descriptor->field(Pick(descriptor->field_count()));
  MutateField(message, field, strings);
}

void MessageMutator::MutateField(Message& message, const FieldDescriptor& field,
                                 const std::vector<std::string>& strings) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated() && reflection.FieldSize(message, &field) > 0 &&
      Pick(3) > 0) {
    MutateRepeated(message, field);
  } else if (Pick(4) == 0) {
    reflection.ClearField(&message, &field);
  } else {
    SetValue(message, field, strings);
  }
}

void MessageMutator::MutateRepeated(Message& message,
                                    const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  switch (Pick(3)) {
    case 0:
      reflection.RemoveLast(&message, &field);
      break;
    case 1:
      reflection.SwapElements(&message, &field, Pick(size), Pick(size));
      break;
    case 2:
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) break;
      const Message& original =
          reflection.GetRepeatedMessage(message, &field, Pick(size));
      std::unique_ptr<Message> copy(original.New());
      copy->CopyFrom(original);
      reflection.AddMessage(&message, &field)->CopyFrom(*copy);
      break;
  }
}

void MessageMutator::SetValue(Message& message, const FieldDescriptor& field,
                              const std::vector<std::string>& strings) {
  const Reflection& reflection = *message.GetReflection();
  const int64_t number = kNumbers[Pick(std::size(kNumbers))];
  const float fraction = kFractions[Pick(std::size(kFractions))];
  const bool add = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      add ? reflection.AddInt32(&message, &field, number)
          : reflection.SetInt32(&message, &field, number);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      add ? reflection.AddInt64(&message, &field, number)
          : reflection.SetInt64(&message, &field, number);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      add ? reflection.AddUInt32(&message, &field, number)
          : reflection.SetUInt32(&message, &field, number);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      add ? reflection.AddUInt64(&message, &field, number)
          : reflection.SetUInt64(&message, &field, number);
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      add ? reflection.AddFloat(&message, &field, fraction)
          : reflection.SetFloat(&message, &field, fraction);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      add ? reflection.AddDouble(&message, &field, fraction)
          : reflection.SetDouble(&message, &field, fraction);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      add ? reflection.AddBool(&message, &field, Pick(2) == 0)
          : reflection.SetBool(&message, &field, Pick(2) == 0);
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string& text = strings[Pick(strings.size())];
      add ? reflection.AddString(&message, &field, text)
          : reflection.SetString(&message, &field, text);
      break;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto& values = *field.enum_type();
      const auto* value = values.value(Pick(values.value_count()));
      add ? reflection.AddEnum(&message, &field, value)
          : reflection.SetEnum(&message, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      add ? reflection.AddMessage(&message, &field)
          : reflection.MutableMessage(&message, &field);
      break;
  }
}

void MessageMutator::Mutate(std::string& bytes) {
  if (bytes.empty()) return;
  const int position = Pick(bytes.size());
  const int length = std::min<int>(1 + Pick(40), bytes.size() - position);
  switch (Pick(5)) {
    case 0:
      bytes[position] ^= 1 << Pick(8);
      break;
    case 1:
      bytes.erase(position, length);
      break;
    case 2:
      bytes.insert(Pick(bytes.size()), bytes.substr(position, length));
      break;
    case 3:
      bytes.insert(position, 1, static_cast<char>(Pick(256)));
      break;
    case 4:
      bytes[position] = "{}:'\"0123456789-._#\n"[Pick(20)];
      break;
  }
}

size_t MutateMessageInput(const FuzzInput& input,
                          google::protobuf::Message& message,
                          ByteMutation mutate_bytes) {
  const auto as_bytes = [&] {
    return mutate_bytes(input.data, input.size, input.max_size);
  };
  if (input.seed % 2 == 0 || !message.ParsePartialFromArray(
                                 input.data, static_cast<int>(input.size))) {
    return as_bytes();
  }
  MessageMutator mutator(input.seed);
  for (unsigned int i = 0; i <= input.seed / 2 % 3; ++i) {
    mutator.Mutate(message);
  }
  const size_t size = message.ByteSizeLong();
  if (size > input.max_size) return as_bytes();
  message.SerializePartialToArray(input.data, static_cast<int>(size));
  return size;
}

}  // namespace distbench::fuzzing
