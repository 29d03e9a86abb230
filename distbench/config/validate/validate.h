#ifndef DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_
#define DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_

#include <vector>

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Every problem of a canonical sequence (canonicalize.h): names, references,
// shapes, ranges, distributions, options, recursion. A sequence without
// problems can be compiled and run without a failure of its own making.
std::vector<Problem> Validate(const TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_VALIDATE_H_
