// The words of CallPolicy. Each function returns INVALID_ARGUMENT, with the
// words that there are, for any other text.

#ifndef DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/policy_plan.h"

namespace distbench::config {

// The names of the codes with which RPCs fail, such as "UNAVAILABLE".

// OK if the text is the name of an error of gRPC. Otherwise INVALID_ARGUMENT,
// whose message quotes the text and says what would be right.
absl::Status CheckErrorCode(absl::string_view text);

absl::StatusOr<LoadBalancing> ParseLoadBalancing(absl::string_view text);
absl::StatusOr<RetryPlan::Jitter> ParseJitter(absl::string_view text);
absl::StatusOr<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text);

// Returns whether the requests that a quorum does not need are cancelled.
absl::StatusOr<bool> ParseRestOfQuorum(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_POLICY_WORDS_H_
