// Compares protocol drivers under the same traffic.
//
//   const base::Json comparison = CompareStacks(runs);
//   std::cout << *StacksText(comparison, StacksFormat::kText);

#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/base/json.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

// Compares runs whose traffic is the same and whose drivers differ. Runs of the
// same traffic and drivers are repetitions. Runs of searches and experiments
// are not compared, because these choose their loads. Empty if all other runs
// have the same drivers.
//
// Returns the key "stacks" of reports, of which docs/reports.md describes every
// field: "studies" of an RPC with the same payloads under several loads, of
// each load the figures of all stacks and how they differ from the first one's,
// and "omissions", which say what is left out, and why.
base::Json CompareStacks(absl::Span<const report::TestRun> runs);

enum class StacksFormat { kText, kMarkdown };

// Writes a comparison for users: for each load a table with a row per stack,
// and sentences. INVALID_ARGUMENT says why no two runs can be compared.
absl::StatusOr<std::string> StacksText(const base::Json& comparison,
                                       StacksFormat format);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_H_
