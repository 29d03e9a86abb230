// Runs the probes of a search on a test sequencer.

#ifndef DISTBENCH_SEARCH_SEQUENCER_RUNNER_H_
#define DISTBENCH_SEARCH_SEQUENCER_RUNNER_H_

#include "absl/status/statusor.h"
#include "distbench/client/test_client.h"
#include "distbench/search/search_run.h"

namespace distbench {

// Each test is a run of its own: it begins once the sequencer has ended all
// that came before, with services that were made for it, and nothing in flight.
// `client` must outlive the runner. The error is the client's.
TestRunner RunOnSequencer(TestClient& client);

// How many copies of a system to run side by side: one for each 100 CPUs of the
// hosts of the sequencer's nodes, rounded up. FAILED_PRECONDITION if there are
// no nodes.
absl::StatusOr<int> AutomaticInstanceCount(TestClient& client);

// The same of what the sequencer has said.
absl::StatusOr<int> InstanceCountFor(const GetStatusResponse& status);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEQUENCER_RUNNER_H_
