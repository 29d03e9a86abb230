// Runs the probes of a search on a simulated cluster.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_
#define DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_

#include "distbench/products/search/search_run.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"

namespace distbench::search {

// Each test runs on a cluster of its own. Watchers receive no events, because
// simulated time passes faster than anyone could decide: no probe ends early.
// Each run has a seed of its own, because equal runs would be copies of each
// other and no repeats: that of the test (without one 1), and those after it.
// `runs_before` of them were used by the search that is resumed.
// Errors are those of RunSimulatedTest(), and CANCELLED if the options' flag
// was set.
TestRunner RunOnSimulation(simulation::ClusterRunOptions options,
                           int runs_before = 0);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SIMULATION_RUNNER_H_
