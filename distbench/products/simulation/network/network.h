// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The network between simulated hosts, which transports messages as a whole:
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
// order of their last bytes. Nothing is lost.
//
// Not modelled: links in the middle other than by their delay (a leaf's links
// to its spines are never busy), headers, windows.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_

#include <cstdint>
#include <vector>

#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {

// Messages of one direction of a connection arrive in the order in which they
// were sent.
struct SimulatedMessage {
  int from_host = 0;
  int to_host = 0;
  int64_t bytes = 0;

  // Unique among all of the simulation's: the same connection takes the same
  // path.
  uint64_t connection = 0;

  // The event that tells the receiver that the last byte has arrived. It runs
  // as part of an event of node `to_host`.
  SimulatedEventHandler* receiver = nullptr;
  SimulatedEvent arrival = {};

  // The network's: when the first byte is at the receiver's link.
  int64_t first_byte_ns = 0;
};

// When a link has transmitted what was given to it: first come, first served.
// As the order never changes, the time at which the link will be free says all
// about the queue in front of it.
class LinkTimeline {
 public:
  explicit LinkTimeline(double bytes_per_ns) : ns_per_byte_(1 / bytes_per_ns) {}

  // Transmits so many bytes from `earliest_ns` on, or when the link is free,
  // and returns when the last one has left. Fractions of nanoseconds carry over
  // to what follows without a pause, so that rates are exact.
  int64_t Transmit(int64_t earliest_ns, int64_t bytes);

  int64_t free_ns() const { return free_ns_; }

 private:
  const double ns_per_byte_;
  double fraction_ns_ = 0;
  int64_t free_ns_ = 0;
};

class SimulatedNetwork : private SimulatedEventHandler {
 public:
  // The nodes of the simulator are the hosts. Both must outlive this; the
  // simulator's lookahead must be at most LookaheadNs().
  SimulatedNetwork(const ClusterModel& model, Simulator& simulator);

  // How much later than now any event of another node is that a network of this
  // model schedules, at least: messages cross the links of two hosts.
  static int64_t LookaheadNs(const ClusterModel& model);

  // Sends a message from now on. It must stay where it is until it arrives.
  // Call this in an event of node from_host, or while the simulator does not
  // run. from_host and to_host differ.
  void Send(SimulatedMessage& message);

 private:
  enum EventKind {
    kLastByte,  // is at the receiver's link, if that is free
    kPassedOn,  // by the receiver's link, which was not
  };

  // The link of a host, changed by its events only.
  struct alignas(64) Host {
    explicit Host(const HostLink& link)
        : out(link.bytes_per_ns), in(link.bytes_per_ns) {}

    LinkTimeline out;
    LinkTimeline in;
    // When the last message arrives that had to wait for the receiving link.
    int64_t last_passed_on_ns = -1;
  };

  void OnEvent(const SimulatedEvent& event) override;
  void OnLastByte(SimulatedMessage& message);
  static void Deliver(SimulatedMessage& message);

  const ClusterModel& model_;
  Simulator& simulator_;
  std::vector<Host> hosts_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_
