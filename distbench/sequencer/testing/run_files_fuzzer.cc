// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Built with clang by scripts/fuzz.sh.

#include <cstddef>
#include <cstdint>

#include "distbench/fuzzing/message_mutator.h"
#include "distbench/sequencer/runs/run_files.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  distbench::RunFiles files;
  return distbench::fuzzing::MutateMessageInput({data, size, max_size, seed},
                                                files, LLVMFuzzerMutate);
}
