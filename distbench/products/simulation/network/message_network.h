// A network that transports messages as a whole: simple, fast and without loss.
//
//   Send ─▶ [sender's link] ── delays of the path ──▶ [receiver's link] ─▶
//   arrival
//
// A message leaves when the sender's link has sent those before it, one byte
// after the other at that link's rate, and takes the delays of all links on its
// path. Its last byte arrives when it has come that way, and not before the
// receiver's link has passed on those that came before it, and then this one
// (cut-through: the two links are busy at the same time, so that an idle
// network costs bytes / rate once). Messages reach the receiver's link in the
// order of their last bytes.
//
// Not modelled: links in the middle other than by their delay (a leaf's links
// to its spines are never busy), headers, loss, windows.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_MESSAGE_NETWORK_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_MESSAGE_NETWORK_H_

#include <cstdint>
#include <vector>

#include "distbench/products/simulation/network/link_timeline.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/products/simulation/network/returning_pool.h"

namespace distbench::simulation {

class MessageNetwork : public SimulatedNetwork, private SimulatedEventHandler {
 public:
  MessageNetwork(const ClusterModel& model, Simulator& simulator);

  void Send(const SimulatedMessage& message) override;
  // All zero: there are no packets.
  SimulatedNetworkCounters counters() const override { return {}; }

 private:
  enum EventKind {
    kLastByte,  // is at the receiver's link, if that is free
    kPassedOn,  // by the receiver's link, which was not
  };

  // A message on its way: written by the sender, then read by the receiver.
  struct Flight : ReturningObject<Flight> {
    SimulatedEventHandler* receiver;
    SimulatedEvent arrival;
    int64_t first_byte_ns;  // at the receiver's link
    int64_t bytes;
    int to_host;
    int last_link;
  };

  // The state of a host, changed by its events only.
  struct alignas(64) Host {
    ReturningPool<Flight> flights;
    std::vector<int> path;  // of the message that is being sent
    // When the last message arrives that had to wait for the receiving link.
    int64_t last_passed_on_ns = -1;
  };

  void OnEvent(const SimulatedEvent& event) override;
  void OnLastByte(Flight& flight, const SimulatedEvent& event);
  static void Deliver(Flight& flight);

  const ClusterModel& model_;
  Simulator& simulator_;
  std::vector<Host> hosts_;
  // By link: a host's own, of its events only.
  std::vector<LinkTimeline> links_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_MESSAGE_NETWORK_H_
