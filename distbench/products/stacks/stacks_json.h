#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_JSON_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

// Compares the protocol drivers of runs with the same traffic.
nlohmann::ordered_json StacksJson(absl::Span<const report::TestRun> runs);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_JSON_H_
