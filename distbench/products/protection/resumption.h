// Continues an experiment from the results of an earlier start.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_RESUMPTION_H_
#define DISTBENCH_PRODUCTS_PROTECTION_RESUMPTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// The report of an experiment of which nothing has been run.
ExperimentReport NewReport(const ExperimentPlan& plan);

// Whether any cell has been run. Before that, the results may have runs of the
// search for the capacity.
bool HasCells(const TestSequenceResults& results);

// Whether the results have this run.
bool HasRun(const TestSequenceResults& results, const ExperimentCell& cell);

// The seed of the experiment in the results, with which it is to be planned
// again; absent if there is none.
std::optional<uint64_t> SeedOf(const TestSequenceResults& results);

// The workers of each instance in the results' tests; 0 if nothing has been
// run. Another number would make later cells differ from earlier ones.
int WorkersOf(const TestSequenceResults& results);

// Checks that the results, which may be empty, are those of this experiment on
// this test, so that it can continue from them. The number of repetitions may
// differ. FAILED_PRECONDITION describes the differences.
absl::Status CheckExperimentResumable(const ExperimentPlan& plan,
                                      const TestSequenceResults& results);

// Whether all cells have been run, and none was omitted.
bool IsCompleteExperiment(const ExperimentPlan& plan,
                          const TestSequenceResults& results);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_RESUMPTION_H_
