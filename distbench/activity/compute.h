// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities that only compute: sorting, spinning for a time, inference of a
// neural network.

#ifndef DISTBENCH_ACTIVITY_COMPUTE_H_
#define DISTBENCH_ACTIVITY_COMPUTE_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

// Activities that only compute.

// Each iteration uses this much CPU time on its thread. duration_ns must be at
// least 1.
std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns);

// Each iteration fills an array with random numbers, sorts it and sums it up.
// array_size must be at least 1.
std::unique_ptr<Activity> MakeConsumeCpu(int64_t array_size, uint64_t seed);

struct InferOptions {
  int64_t layers = 1;
  int64_t width = 1;  // values between layers, and of inputs and outputs
  int64_t batch = 1;  // inputs per iteration

  // Blocks of memory that each layer allocates for each input and frees at its
  // end, and their largest size.
  int64_t allocations = 0;
  int64_t allocation_bytes = 1;

  // Parts of an iteration; each takes some of the inputs.
  int parallelism = 1;
  uint64_t seed = 0;
};

// Forward inference of a network of fully connected layers with rectifiers. The
// weights are shared by the process: width * width * layers floats.
std::unique_ptr<Activity> MakeInfer(const InferOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_COMPUTE_H_
