// Plans an experiment for the nodes of a test sequencer.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_SEQUENCER_EXPERIMENT_H_
#define DISTBENCH_PRODUCTS_PROTECTION_SEQUENCER_EXPERIMENT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "distbench/client/test_client.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Plans the experiment of a canonical test for the nodes of the sequencer, so
// that RunExperiment() can begin it, or continue it from `results`. `seed` is
// used if results have none. Errors are those of the client, of
// PlanExperiment() and of CheckExperimentResumable().
absl::StatusOr<ExperimentPlan> PlanOnSequencer(
    const DistributedSystemDescription& test, uint64_t seed,
    const TestSequenceResults& results, client::TestClient& client);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_SEQUENCER_EXPERIMENT_H_
