#ifndef DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_
#define DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/message.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_FUZZING_MESSAGE_MUTATOR_H_
