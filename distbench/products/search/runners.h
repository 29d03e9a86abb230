// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs the probes of a search on a test sequencer, or on simulated hosts.

#ifndef DISTBENCH_PRODUCTS_SEARCH_RUNNERS_H_
#define DISTBENCH_PRODUCTS_SEARCH_RUNNERS_H_

#include <atomic>

#include "absl/status/statusor.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/client/test_client.h"
#include "distbench/products/search/search_run.h"

namespace distbench::search {

// Runs the probes of a search on a test sequencer.
//
// Each test is a separate run. It begins when the sequencer has ended all
// previous runs, with new services and nothing in flight. `client` must outlive
// the runner. Errors are those of the client.
TestRunner RunOnSequencer(client::TestClient& client);

// The number of copies of a system to run side by side: one per 100 CPUs of the
// nodes' hosts, rounded up. FAILED_PRECONDITION if there are no nodes.
absl::StatusOr<int> InstanceCountFor(const GetStatusResponse& status);

// Runs the probes of a search on simulated hosts.
//
// Each test runs on hosts of its own. Watchers receive no events, because
// simulated time passes faster than anyone could decide: no probe ends early.
// Each run has a seed of its own, because equal runs would be copies of each
// other and no repeats: that of the test (without one 1), and those after it.
// `runs_before` of them were used by the search that is resumed.
// Errors are those of the hosts, and CANCELLED if `is_cancelled` was set, which
// has to outlive the runner.
TestRunner RunOnSimulation(cli::SimulatedHosts hosts,
                           const std::atomic<bool>& is_cancelled,
                           int runs_before = 0);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_RUNNERS_H_
