// Compares protocol drivers under the same traffic.
//
//   const ReportedStacks comparison = CompareStacks(runs);
//   std::cout << *StacksText(comparison, StacksFormat::kText);

#ifndef DISTBENCH_PRODUCTS_STACKS_STACKS_H_
#define DISTBENCH_PRODUCTS_STACKS_STACKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/stacks/report.pb.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::stacks {

// Compares runs whose traffic is the same and whose drivers differ. Runs of the
// same traffic and drivers are repetitions. Runs of searches and experiments
// are not compared, because these choose their loads. Empty if all other runs
// have the same drivers.
//
// Returns the key "stacks" of reports: of each load the figures of all stacks
// and how they differ from the first one's.
ReportedStacks CompareStacks(absl::Span<const report::TestRun> runs);

enum class StacksFormat { kText, kMarkdown };

// Writes a comparison for users: for each load a table with a row per stack,
// and sentences. INVALID_ARGUMENT says why no two runs can be compared.
absl::StatusOr<std::string> StacksText(const ReportedStacks& comparison,
                                       StacksFormat format);

}  // namespace distbench::stacks

#endif  // DISTBENCH_PRODUCTS_STACKS_STACKS_H_
