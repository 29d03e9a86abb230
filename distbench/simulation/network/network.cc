#include "distbench/simulation/network/network.h"

#include "distbench/simulation/network/message_network.h"

namespace distbench {

std::unique_ptr<SimulatedNetwork> MakeSimulatedNetwork(
    const ClusterModel& model, Simulator& simulator) {
  return std::make_unique<MessageNetwork>(model, simulator);
}

}  // namespace distbench
