// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_CONFIG_SYNTAX_FANOUT_FILTER_H_
#define DISTBENCH_CONFIG_SYNTAX_FANOUT_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"

namespace distbench::config {

// Probabilities that sum to 1 may miss it by the rounding of their decimals.
inline constexpr double kProbabilitySumTolerance = 1e-6;

// Parses RpcSpec.fanout_filter; an empty string means "all". INVALID_ARGUMENT
// says what is wrong and what would be right.
absl::StatusOr<FanoutPlan> ParseFanoutFilter(absl::string_view filter);

// The axes that the filter uses, ascending: 0 is x, 1 is y, 2 is z.
std::vector<int> AxesOf(const FanoutPlan& fanout);

// Whether each instance of a service is called by at most one instance of
// another, or of its own: a condition of what actions receive.
bool CallsEachOnce(const FanoutPlan& fanout);

// The filters of which that is true, for messages.
std::vector<std::string> FiltersThatCallEachOnce();

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_FANOUT_FILTER_H_
