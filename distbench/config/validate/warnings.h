// Warnings about tests that are valid but probably not as intended.

#ifndef DISTBENCH_CONFIG_VALIDATE_WARNINGS_H_
#define DISTBENCH_CONFIG_VALIDATE_WARNINGS_H_

#include <vector>

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Returns warnings about a sequence that CheckTestSequence() has returned:
// unused parts, a warm-up that never ends, an open loop without an end, a rate
// that one connection cannot carry, controls that contradict each other.
std::vector<Problem> FindWarnings(const TestSequence& sequence);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_WARNINGS_H_
