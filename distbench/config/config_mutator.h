#ifndef DISTBENCH_CONFIG_CONFIG_MUTATOR_H_
#define DISTBENCH_CONFIG_CONFIG_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench {

// Breaks configs at random, for tests of what reads them. The same seed breaks
// in the same way.
class ConfigMutator {
 public:
  explicit ConfigMutator(uint64_t seed) : random_(seed) {}

  // Changes one thing somewhere in the sequence: drops, repeats or reorders an
  // element, clears a field, or gives it an extreme number or a string that
  // another field has.
  void Mutate(TestSequence& sequence);

  // Changes the bytes of a file: flips, drops, repeats or inserts some.
  void Mutate(std::string& bytes);

 private:
  // Uniform in [0, bound). Requires bound >= 1.
  int Pick(int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random_);
  }

  google::protobuf::Message& PickMessage(TestSequence& sequence);
  void MutateField(google::protobuf::Message& message,
                   const google::protobuf::FieldDescriptor& field,
                   const std::vector<std::string>& strings);
  void MutateRepeated(google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor& field);
  void SetValue(google::protobuf::Message& message,
                const google::protobuf::FieldDescriptor& field,
                const std::vector<std::string>& strings);

  std::mt19937_64 random_;
};

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_CONFIG_MUTATOR_H_
