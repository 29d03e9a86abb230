// The words of CallPolicy. Each function returns INVALID_ARGUMENT, with the
// words that there are, for any other text.

#ifndef DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/policy_plan.h"

namespace distbench::config {

absl::StatusOr<LoadBalancing> ParseLoadBalancing(absl::string_view text);
absl::StatusOr<RetryPlan::Jitter> ParseJitter(absl::string_view text);
absl::StatusOr<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text);

// Returns whether the requests that a quorum does not need are cancelled.
absl::StatusOr<bool> ParseRestOfQuorum(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_
