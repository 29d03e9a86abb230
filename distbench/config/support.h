#ifndef DISTBENCH_CONFIG_SUPPORT_H_
#define DISTBENCH_CONFIG_SUPPORT_H_

#include <vector>

#include "distbench/config/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Every use of a feature that the language has and the engine does not run yet,
// as "not supported yet: feature".
std::vector<Problem> UnsupportedFeatures(const TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SUPPORT_H_
