// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The libFuzzer target for configs: fuzz_entry, with mutations that understand
// configs. scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "distbench/config/reading/config_format.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/testing/fuzz_entry.h"
#include "distbench/config/testing/random_drivers.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

// libFuzzer's mutation of plain bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// In one of the formats of files.
static std::string Serialised(const distbench::TestSequence& sequence,
                              unsigned int format) {
  switch (format) {
    case 0:
      return sequence.SerializeAsString();
    case 1:
      return distbench::config::ToYaml(sequence);
    case 2:
      return distbench::config::ToJson(sequence);
    default:
      return distbench::config::ToText(sequence);
  }
}

// Mutates either the config (now and then only its drivers) or its bytes, half
// of the time each. Input that is not a config always has its bytes mutated.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto sequence = distbench::config::ParseTestSequence(bytes, "input");
  if (!sequence.ok()) return LLVMFuzzerMutate(data, size, max_size);
  if (seed / 24 % 8 == 0 && sequence->tests_size() > 0) {
    distbench::fuzzing::RandomSource random(seed);
    distbench::config::DrawDrivers("grpc", random, *sequence->mutable_tests(0));
  }
  distbench::fuzzing::MessageMutator mutator(seed, distbench::config::ConfigWords());
  for (unsigned int i = 0; i <= seed / 2 % 3; ++i) mutator.Mutate(*sequence);
  const std::string mutated = Serialised(*sequence, seed / 6 % 4);
  if (mutated.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutated.data(), mutated.size());
  return mutated.size();
}
