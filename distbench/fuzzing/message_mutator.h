// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_
#define DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/message.h"

namespace distbench::fuzzing {

// Breaks messages at random, to test code that reads them. Equal seeds break
// messages in the same way.
class MessageMutator {
 public:
  // `words` are strings with a meaning to the reader. Strings from the messages
  // are used as well.
  explicit MessageMutator(uint64_t seed, std::vector<std::string> words = {})
      : random_(seed), words_(std::move(words)) {}

  // Changes one thing anywhere in the message: drops, repeats or reorders an
  // element, clears a field, or sets it to an extreme number or to another
  // field's string.
  void Mutate(google::protobuf::Message& message);

  // Changes the bytes of a file: flips, drops, repeats or inserts some.
  void Mutate(std::string& bytes);

 private:
  // Returns a uniform number in [0, bound). Requires bound >= 1.
  int Pick(int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random_);
  }

  google::protobuf::Message& PickMessage(google::protobuf::Message& root);
  void MutateField(google::protobuf::Message& message,
                   const google::protobuf::FieldDescriptor& field,
                   const std::vector<std::string>& strings);
  void MutateRepeated(google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor& field);
  void SetValue(google::protobuf::Message& message,
                const google::protobuf::FieldDescriptor& field,
                const std::vector<std::string>& strings);

  std::mt19937_64 random_;
  const std::vector<std::string> words_;
};

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

}  // namespace distbench::fuzzing

#endif  // DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_
