#ifndef DISTBENCH_FUZZING_MESSAGE_INPUT_H_
#define DISTBENCH_FUZZING_MESSAGE_INPUT_H_

#include <cstddef>
#include <cstdint>

#include "google/protobuf/message.h"

namespace distbench {

// The arguments of LLVMFuzzerCustomMutator().
struct FuzzInput {
  uint8_t* data;
  size_t size;
  size_t max_size;
  unsigned int seed;
};

// The type of LLVMFuzzerMutate(), libFuzzer's own mutation.
using ByteMutation = size_t (*)(uint8_t* data, size_t size, size_t max_size);

// Changes an input that is a serialised message: half of the time the message,
// otherwise its bytes. Input that is not such a message always changes in its
// bytes. The input is parsed into `message`. Returns the new size.
size_t MutateMessageInput(const FuzzInput& input,
                          google::protobuf::Message& message,
                          ByteMutation mutate_bytes);

}  // namespace distbench

#endif  // DISTBENCH_FUZZING_MESSAGE_INPUT_H_
