#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/config/plan/policy_plan.h"
#include "proto/results.pb.h"

namespace distbench {

// Attempts that a request may have.
int MostAttempts(const PolicyPlan& plan);

// Returns what is wrong with the attempts of an RPC with a policy, of which
// `ended_count` requests are in the statistics of RPCs, without the warm-up:
// each request has ended once, and so has each attempt. Empty if nothing is.
std::vector<std::string> CheckAttempts(const PolicyStatistics& statistics,
                                       const PolicyPlan& plan,
                                       int64_t ended_count);

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_
