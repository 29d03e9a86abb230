// The test of a cell. Any sequencer can run it; it knows nothing of the
// experiment.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/protection/experiment_plan.h"
#include "proto/experiment.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// When the phases of a cell begin, since the start of its test.
struct CellTimes {
  absl::Duration baseline;
  absl::Duration interfere;
  absl::Duration recover;
  absl::Duration end;
};

// An antagonist that runs alone begins at once, and nothing follows.
CellTimes TimesOf(const ExperimentPlan& plan, const ExperimentCell& cell,
                  absl::Duration stabilise);

// The rate of the subject's RPC in a cell, in requests per second: that of its
// load, or the test's own; 0 if there is none because its loops are closed, or
// because the antagonist runs alone. `capacity` is used for shares only.
double LoadPerSecond(const ExperimentPlan& plan, const ExperimentCell& cell,
                     double capacity);

// The test of the cell, canonical. The subject's loops last until the end and
// are measured from the start, at the cell's load_per_second if the cell has a
// load; the antagonist works from `interfere` to `recover`. INVALID_ARGUMENT if
// there is no such test.
absl::StatusOr<DistributedSystemDescription> CellTest(
    const ExperimentPlan& plan, const ExperimentCell& cell,
    absl::Duration stabilise);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_
