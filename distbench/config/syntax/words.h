// Words that fields of configs have as values: of CallPolicy, of StreamSpec,
// and codes of errors.

#ifndef DISTBENCH_CONFIG_SYNTAX_WORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_WORDS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/policy_plan.h"

namespace distbench::config {

// OK if the text is the name of a code with which RPCs fail, such as
// "UNAVAILABLE". Otherwise INVALID_ARGUMENT, whose message quotes the text and
// says what would be right.
absl::Status CheckErrorCode(absl::string_view text);

// The words of CallPolicy. Each function returns INVALID_ARGUMENT, with the
// words that there are, for any other text.

absl::StatusOr<LoadBalancing> ParseLoadBalancing(absl::string_view text);
absl::StatusOr<RetryPlan::Jitter> ParseJitter(absl::string_view text);
absl::StatusOr<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text);

// Returns whether the requests that a quorum does not need are cancelled.
absl::StatusOr<bool> ParseRestOfQuorum(absl::string_view text);

// The syntax of StreamSpec.response_starts.

// INVALID_ARGUMENT lists the values that there are.
absl::StatusOr<StreamPlan::Start> ParseResponseStart(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_WORDS_H_
