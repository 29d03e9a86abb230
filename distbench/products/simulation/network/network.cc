#include "distbench/products/simulation/network/network.h"

#include "distbench/products/simulation/network/message_network.h"
#include "distbench/products/simulation/network/packet_network.h"

namespace distbench::simulation {
namespace {

bool HasMessages(const ClusterModel& model) {
  return model.fabric.transport().kind() == SimulatedTransport::MESSAGES;
}

}  // namespace

int64_t LookaheadNs(const ClusterModel& model) {
  return HasMessages(model) ? 2 * model.min_delay_ns : model.min_delay_ns;
}

std::unique_ptr<SimulatedNetwork> MakeSimulatedNetwork(
    const ClusterModel& model, Simulator& simulator) {
  if (HasMessages(model)) {
    return std::make_unique<MessageNetwork>(model, simulator);
  }
  return std::make_unique<PacketNetwork>(model, simulator);
}

}  // namespace distbench::simulation
