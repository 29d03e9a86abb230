// The syntax of StreamSpec.response_starts.

#ifndef DISTBENCH_CONFIG_SYNTAX_RESPONSE_START_H_
#define DISTBENCH_CONFIG_SYNTAX_RESPONSE_START_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"

namespace distbench::config {

// INVALID_ARGUMENT lists the values that there are.
absl::StatusOr<StreamPlan::Start> ParseResponseStart(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_RESPONSE_START_H_
