#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_

#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Attempts that a request may have.
int MostAttempts(const config::PolicyPlan& plan);

// Returns what is wrong with the attempts of an instance's RPCs: each request
// has ended once, and so has each attempt. Empty if nothing is.
std::vector<std::string> CheckPolicies(const ServicePerformanceLog& log,
                                       const config::Plan& plan);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_POLICY_CHECK_H_
