// Cluster models for tests of networks, without a fabric's text.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_HAND_MADE_MODELS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_HAND_MADE_MODELS_H_

#include <cstdint>

#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {

// Host i sends over link 2 * i and receives over link 2 * i + 1. `link` gives
// everything but the nodes.
ClusterModel SingleSwitchModel(int hosts, const LinkModel& link);

// Likewise; links between leaves and spines follow. A connection's spine is
// drawn at random from its number.
ClusterModel LeafSpineModel(int leaves, int hosts_per_leaf, int spines,
                            const LinkModel& host_link,
                            const LinkModel& spine_link);

// With the segments and windows of the fabric's defaults.
void UseTransport(SimulatedTransport::Kind kind, ClusterModel& model);

// Every node on one of the threads, in turns; the lookahead of the model.
SimulatorOptions OptionsFor(const ClusterModel& model, int threads);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_HAND_MADE_MODELS_H_
