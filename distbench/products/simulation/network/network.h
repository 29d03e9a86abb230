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

#include <atomic>
#include <cstdint>
#include <memory>
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
  SimulatedEvent arrival;
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

// Messages on their way, which the thread of one host takes and those of others
// give back. Once there are as many as are ever on their way, nothing is
// allocated, however one-sided the traffic between threads is: they return to
// where they came from.
class FlightPool {
 public:
  struct Flight {
    SimulatedEventHandler* receiver;
    SimulatedEvent arrival;
    int64_t first_byte_ns;  // at the receiver's link
    int64_t bytes;
    int to_host;
    int last_link;
    Flight* next;
    FlightPool* owner;
  };

  // One thread at a time.
  Flight* Get();
  // Any thread.
  static void Return(Flight* flight);

 private:
  void Grow();

  Flight* free_ = nullptr;
  std::vector<std::unique_ptr<Flight[]>> blocks_;
  size_t size_ = 0;
  std::atomic<Flight*> returned_ = nullptr;
};

class SimulatedNetwork : private SimulatedEventHandler {
 public:
  // The nodes of the simulator are the hosts. Both must outlive this; the
  // simulator's lookahead must be at most LookaheadNs().
  SimulatedNetwork(const ClusterModel& model, Simulator& simulator);

  // How much later than now any event of another node is that a network of this
  // model schedules, at least: messages cross two links.
  static int64_t LookaheadNs(const ClusterModel& model) {
    return 2 * model.min_delay_ns;
  }

  // Sends a message from now on. Call this in an event of node from_host, or
  // while the simulator does not run. from_host and to_host differ.
  void Send(const SimulatedMessage& message);

 private:
  using Flight = FlightPool::Flight;
  enum EventKind {
    kLastByte,  // is at the receiver's link, if that is free
    kPassedOn,  // by the receiver's link, which was not
  };

  // The state of a host, changed by its events only.
  struct alignas(64) Host {
    FlightPool flights;
    std::vector<int> path;  // of the message that is being sent
    // When the last message arrives that had to wait for the receiving link.
    int64_t last_passed_on_ns = -1;
  };

  void OnEvent(const SimulatedEvent& event) override;
  void OnLastByte(Flight& flight);
  static void Deliver(Flight& flight);

  const ClusterModel& model_;
  Simulator& simulator_;
  std::vector<Host> hosts_;
  // By link: a host's own, of its events only.
  std::vector<LinkTimeline> links_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_NETWORK_H_
