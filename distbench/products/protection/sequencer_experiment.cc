#include "distbench/products/protection/sequencer_experiment.h"

#include "distbench/products/protection/resumption.h"
#include "distbench/products/protection/subject_workers.h"

namespace distbench::protection {

absl::StatusOr<ExperimentPlan> PlanOnSequencer(
    const DistributedSystemDescription& test, uint64_t seed,
    const TestSequenceResults& results, client::TestClient& client) {
  ExperimentOptions options;
  options.seed = SeedOf(results).value_or(seed);
  options.workers_per_instance = WorkersOf(results);
  if (options.workers_per_instance == 0) {
    const absl::StatusOr<GetStatusResponse> status = client.GetStatus();
    if (!status.ok()) return status.status();
    options.workers_per_instance = WorkersOfSubject(test, *status);
  }
  absl::StatusOr<ExperimentPlan> plan = PlanExperiment(test, options);
  if (!plan.ok()) return plan.status();
  if (absl::Status resumable = CheckExperimentResumable(*plan, results);
      !resumable.ok()) {
    return resumable;
  }
  return plan;
}

}  // namespace distbench::protection
