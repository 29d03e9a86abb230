// Texts that are quantities with units, in place of numbers.

#ifndef DISTBENCH_CONFIG_RULES_QUANTITY_TEXT_H_
#define DISTBENCH_CONFIG_RULES_QUANTITY_TEXT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/rules.pb.h"

namespace distbench::config {

// Returns what the text comes to, which is within the range of the rules.
// INVALID_ARGUMENT quotes the text and says what would be right.
absl::StatusOr<int64_t> ParseQuantity(absl::string_view text,
                                      const FieldRules& rules);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_RULES_QUANTITY_TEXT_H_
