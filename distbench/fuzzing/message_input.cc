#include "distbench/fuzzing/message_input.h"

#include "distbench/fuzzing/message_mutator.h"

namespace distbench {

size_t MutateMessageInput(const FuzzInput& input,
                          google::protobuf::Message& message,
                          ByteMutation mutate_bytes) {
  const auto as_bytes = [&] {
    return mutate_bytes(input.data, input.size, input.max_size);
  };
  if (input.seed % 2 == 0 ||
      !message.ParsePartialFromArray(input.data,
                                     static_cast<int>(input.size))) {
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

}  // namespace distbench
