#ifndef DISTBENCH_FUZZING_MESSAGE_INPUT_H_
#define DISTBENCH_FUZZING_MESSAGE_INPUT_H_

#include <cstddef>
#include <cstdint>

#include "google/protobuf/message.h"

namespace distbench {

// What libFuzzer gives to LLVMFuzzerCustomMutator().
struct FuzzInput {
  uint8_t* data;
  size_t size;
  size_t max_size;
  unsigned int seed;
};

// libFuzzer's own mutation, LLVMFuzzerMutate().
using ByteMutation = size_t (*)(uint8_t* data, size_t size, size_t max_size);

// Changes an input that is a serialised message: the message as such or its
// bytes, half of the time each; always the bytes of what is no such message.
// `message` is where it is read into. Returns the new size.
size_t MutateMessageInput(const FuzzInput& input,
                          google::protobuf::Message& message,
                          ByteMutation mutate_bytes);

}  // namespace distbench

#endif  // DISTBENCH_FUZZING_MESSAGE_INPUT_H_
