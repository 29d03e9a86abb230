// The comparison of stacks, as JSON and as text.

#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_REPORT_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

// Compares the protocol drivers of runs with the same traffic.
nlohmann::ordered_json StacksJson(absl::Span<const report::TestRun> runs);

enum class StacksFormat { kText, kMarkdown };

// Compares the stacks of the runs for users: for each traffic a table with a
// row per stack, and sentences. INVALID_ARGUMENT says why no two runs can be
// compared.
absl::StatusOr<std::string> StacksText(absl::Span<const report::TestRun> runs,
                                       StacksFormat format);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_REPORT_H_
