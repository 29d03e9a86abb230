#ifndef DISTBENCH_ACTIVITY_INFER_H_
#define DISTBENCH_ACTIVITY_INFER_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::activity {

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

#endif  // DISTBENCH_ACTIVITY_INFER_H_
