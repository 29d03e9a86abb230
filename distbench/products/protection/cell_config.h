// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The test of a cell. Any sequencer can run it; it knows nothing of the
// experiment.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_

#include <set>
#include <string>

#include "absl/status/status.h"
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

// Adds antagonists to a test, as services of their own.

// When the antagonist works, since the start of the test.
struct AntagonistWindow {
  absl::Duration start;
  absl::Duration duration;  // above 0
};

// The nodes on which the antagonist runs: those of the services beside which
// the experiment places it. Requires a valid test that has its experiment.
std::set<std::string> NodesBeside(const DistributedSystemDescription& test,
                                  const Antagonist& antagonist);

// Puts each instance beside which an antagonist of the experiment runs, and
// which is in no bundle, into one on the node that it would get anyway: in a
// bundle, it can share it. Requires as above.
void BundleSubject(DistributedSystemDescription& test);

// INVALID_ARGUMENT if the antagonist cannot work as it should in this time: its
// ramp would not end, or the first burst of an incast might come later.
absl::Status CheckTimeOf(const Antagonist& antagonist, absl::Duration duration);

// Adds the antagonist's services at the end of the test, so that nothing of the
// subject changes its number, and with it its random choices. Each node has the
// antagonist's instances, whose activities run in a pool of as many threads as
// the antagonist has: in a closed loop that keeps all of them busy or, if there
// is a rate, in an open loop. During a ramp, parts of the loop begin one after
// another; those of an incast with a rate replace each other. The senders of an
// incast are in no bundle, so that each gets a node of its own. Requires an
// antagonist of a valid experiment, and the time for it.
void AddAntagonist(const Antagonist& antagonist,
                   const std::set<std::string>& nodes,
                   const AntagonistWindow& window,
                   DistributedSystemDescription& test);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CELL_CONFIG_H_
