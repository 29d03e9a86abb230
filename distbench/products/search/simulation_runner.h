// Runs the probes of a search on simulated hosts.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_
#define DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_

#include <atomic>

#include "distbench/cli/test_simulation.h"
#include "distbench/products/search/search_run.h"

namespace distbench::search {

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

#endif  // DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_
