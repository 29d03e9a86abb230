// Words that fields of configs have as values: of CallPolicy, of StreamSpec,
// and codes of errors.

#ifndef DISTBENCH_CONFIG_SYNTAX_WORDS_H_
#define DISTBENCH_CONFIG_SYNTAX_WORDS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/policy_plan.h"

namespace distbench::config {

// OK if the text is the name of a code with which RPCs fail, such as
// "UNAVAILABLE". Otherwise INVALID_ARGUMENT, whose message quotes the text and
// says what would be right.
absl::Status CheckErrorCode(absl::string_view text);

// The words of CallPolicy and StreamSpec, which their rules list, too
// (proto/rules.proto). Each function returns nothing for any other text.

std::optional<LoadBalancing> ParseLoadBalancing(absl::string_view text);
std::optional<RetryPlan::Jitter> ParseJitter(absl::string_view text);
std::optional<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text);
std::optional<StreamPlan::Start> ParseResponseStart(absl::string_view text);

// Returns whether the requests that a quorum does not need are cancelled.
std::optional<bool> ParseRestOfQuorum(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_SYNTAX_WORDS_H_
