// The network between simulated hosts, as these see it. There are two:
// message_network.h for messages as a whole, and packet_network.h for packets.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_

#include <cstdint>
#include <memory>

#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {

// Messages of one direction of a connection arrive in the order in which they
// were sent.
struct SimulatedMessage {
  int from_host = 0;
  int to_host = 0;
  int64_t bytes = 0;

  // The connection, unique among all of the simulation's, and which end sends.
  // The same connection takes the same path.
  uint64_t connection = 0;
  bool from_server = false;

  // The event that tells the receiver that the last byte has arrived. It runs
  // as part of an event of node `to_host`.
  SimulatedEventHandler* receiver = nullptr;
  SimulatedEvent arrival;
};

struct SimulatedNetworkCounters {
  int64_t packets = 0;
  int64_t dropped_packets = 0;
  int64_t marked_packets = 0;
  int64_t retransmissions = 0;
  int64_t timeouts = 0;
};

// Nodes 0 to host_count - 1 of the simulator are hosts; a network may use the
// nodes after these (switch_count of them) for its switches.
class SimulatedNetwork {
 public:
  virtual ~SimulatedNetwork() = default;

  // Sends a message from now on. Call this in an event of node from_host, or
  // while the simulator does not run. from_host and to_host differ.
  virtual void Send(const SimulatedMessage& message) = 0;

  // While the simulator does not run.
  virtual SimulatedNetworkCounters counters() const = 0;
};

// How much later than now any event of another node is that a network of this
// model schedules, at least: the lookahead of its simulator. Packets cross one
// link between two nodes, messages at least two.
int64_t LookaheadNs(const ClusterModel& model);

// Of the kind that model.fabric.transport() says. Both arguments must outlive
// the network; the simulator's lookahead must be at most LookaheadNs().
std::unique_ptr<SimulatedNetwork> MakeSimulatedNetwork(
    const ClusterModel& model, Simulator& simulator);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_
