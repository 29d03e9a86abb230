// The capacity of an experiment's subject: the rate of its RPC that it carries
// alone within its objective.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CAPACITY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CAPACITY_H_

#include "absl/status/statusor.h"
#include "distbench/products/protection/experiment_plan.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Whether any load is a share of the capacity.
bool NeedsCapacity(const ExperimentPlan& plan);

// The search for the capacity, without controls and antagonists. Its settings
// are those of the test's `search`, if that varies the rate. INVALID_ARGUMENT
// if there is no such search.
absl::StatusOr<search::SearchPlan> PlanCapacitySearch(
    const ExperimentPlan& plan);

// Returns requests per second of the subject's RPC: the answer of a search,
// which begins or continues in `results`. These must have no run of a cell yet,
// because a run of the search is kept among their runs: it tells what test the
// search was for. FAILED_PRECONDITION if the search did not find any.
absl::StatusOr<double> FindCapacity(const ExperimentPlan& plan,
                                    const search::SearchPlan& search_plan,
                                    const search::SearchCallbacks& callbacks,
                                    TestSequenceResults& results);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CAPACITY_H_
