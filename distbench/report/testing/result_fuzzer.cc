// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The libFuzzer target for results, which scripts/fuzz.sh builds with clang.

#include <cstddef>
#include <cstdint>

#include "distbench/fuzzing/message_mutator.h"
#include "proto/results.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  distbench::TestSequenceResults results;
  return distbench::fuzzing::MutateMessageInput({data, size, max_size, seed},
                                                results, LLVMFuzzerMutate);
}
