#ifndef DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_HOST_THREADS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_HOST_THREADS_H_

#include <vector>

namespace distbench::simulation {

// Returns which thread simulates each host, given the hosts that each of them
// calls (a host may be there several times). The threads get about equally many
// callers and called hosts, and hosts that call each other are in one thread
// where that is possible: callers come first, each followed by the hosts that
// it calls and that are not there yet, and so on, and the threads divide this
// order into equal parts.
std::vector<int> HostThreads(const std::vector<std::vector<int>>& called_by,
                             int threads);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_CLUSTER_HOST_THREADS_H_
