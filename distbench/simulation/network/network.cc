#include "distbench/simulation/network/network.h"

#include "distbench/simulation/network/message_network.h"
#include "distbench/simulation/network/packet_network.h"

namespace distbench {

std::unique_ptr<SimulatedNetwork> MakeSimulatedNetwork(
    const ClusterModel& model, Simulator& simulator) {
  if (model.fabric.transport().kind() == SimulatedTransport::MESSAGES) {
    return std::make_unique<MessageNetwork>(model, simulator);
  }
  return std::make_unique<PacketNetwork>(model, simulator);
}

}  // namespace distbench
