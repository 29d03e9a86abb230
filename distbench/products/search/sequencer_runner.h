// Runs the probes of a search on a test sequencer.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEQUENCER_RUNNER_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEQUENCER_RUNNER_H_

#include "absl/status/statusor.h"
#include "distbench/client/test_client.h"
#include "distbench/products/search/search_run.h"

namespace distbench::search {

// Each test is a separate run. It begins when the sequencer has ended all
// previous runs, with new services and nothing in flight. `client` must outlive
// the runner. Errors are those of the client.
TestRunner RunOnSequencer(client::TestClient& client);

// The number of copies of a system to run side by side: one per 100 CPUs of the
// nodes' hosts, rounded up. FAILED_PRECONDITION if there are no nodes.
absl::StatusOr<int> InstanceCountFor(const GetStatusResponse& status);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEQUENCER_RUNNER_H_
