#ifndef DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_
#define DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_

#include <vector>

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Returns all problems of a canonical sequence (canonicalize.h): names,
// references, shapes, ranges, distributions, options, recursion. A sequence
// without problems compiles, and runs without failures that the config could
// cause.
std::vector<Problem> Validate(const TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_
