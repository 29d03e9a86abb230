// A network of packets: connections with TCP's windows, over queues that mark
// and drop.
//
//   Send ─▶ TcpSender ─▶ host's link ─▶ queues of switches ─▶ TcpReceiver ─▶
//   arrival
//               ▲                                                 │
//               └──────────── acknowledgements, likewise ─────────┘
//
// Switches store and forward. The queue in front of a link belongs to the node
// that sends into it or, if the link leads to a host, to that host: so queues
// of one switch are simulated side by side. The length of a queue follows from
// when the link will have sent it (LinkTimeline), so a packet costs one event
// at each queue that it reaches, and one at its end. A packet that would make
// the queue (with the packet in transmission) longer than queue_bytes is
// dropped. With DCTCP, a data packet that finds more than ecn_bytes is marked.
// Packets of RENO are never marked.
//
// A host neither drops nor marks its own packets: as with Linux' byte queue
// limits and fair queueing, its link has a short queue, and connections that
// find it full take turns when it drains.
//
// Not simulated: setting connections up, the receiver's window, offloads of
// segmentation, control of the pace (BBR, fq), other traffic's priorities.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_NETWORK_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "distbench/activity/work_random.h"
#include "distbench/products/simulation/network/link_timeline.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/products/simulation/network/packet_connection.h"
#include "distbench/products/simulation/network/returning_pool.h"
#include "distbench/products/simulation/network/tcp_settings.h"

namespace distbench::simulation {

// For comparisons with theory.
struct RandomLoss {
  // Each packet with data is lost with this probability when it leaves its
  // host; each acknowledgement with the other one.
  double data = 0;
  double acknowledgements = 0;
  uint64_t seed = 1;
};

class PacketNetwork : public SimulatedNetwork, private SimulatedEventHandler {
 public:
  PacketNetwork(const ClusterModel& model, Simulator& simulator,
                const RandomLoss& loss = {});

  void Send(const SimulatedMessage& message) override;
  SimulatedNetworkCounters counters() const override;

  // What is in the queue of this link (an index into ClusterModel::links) at a
  // time that is not before now. While the simulator does not run.
  double backlog_bytes(int link, int64_t now_ns) const {
    return links_[link].timeline.backlog_bytes(now_ns);
  }

 private:
  enum EventKind {
    kPacket,       // arrives at a node; content: SimulatedPacket
    kTimer,        // content: the ConnectionEnd whose deadline is to be checked
    kLinkDrained,  // value: the host whose waiting connections may send
    kDelayedAcks,  // value: the host with acknowledgements that have waited
  };

  struct alignas(64) Link {
    LinkTimeline timeline;
    int owner;  // the node in whose events packets enter the queue
    int to;
    int64_t delay_ns;
    double queue_bytes;
    double ecn_bytes;  // infinite: marks nothing
  };

  // Connections that have more to send than their host's link takes, in turns.
  struct WaitingForLink {
    ConnectionEnd* first = nullptr;
    ConnectionEnd* last = nullptr;
    bool has_event = false;
    void Append(ConnectionEnd& end);
    ConnectionEnd& TakeFirst();
  };

  // Connections whose acknowledgement waits for data. All wait for the same
  // time, so the first one is always the next one.
  struct WaitingToAck {
    ConnectionEnd* first = nullptr;
    ConnectionEnd* last = nullptr;
    bool has_event = false;
    void Append(ConnectionEnd& end);
    void Remove(ConnectionEnd& end);
  };

  // The state of a node, changed by its events only. Switches just count.
  struct alignas(64) Node {
    SimulatedNetworkCounters counters;
    ReturningPool<SimulatedPacket> packets;
    ReturningPool<StreamMessage> messages;
    absl::flat_hash_map<uint64_t, ConnectionEnd*> ends;
    WaitingForLink for_link;
    WaitingToAck to_ack;
    activity::WorkRandom random{0};
  };

  void OnEvent(const SimulatedEvent& event) override;
  void OnPacket(SimulatedPacket& packet, int64_t now_ns);
  void OnTimer(ConnectionEnd& end, int64_t event_ns);
  void OnLinkDrained(int host);
  void OnDelayedAcks(int host);

  ConnectionEnd& EndOf(const SimulatedMessage& message);
  // Sends what window and link allow.
  void Pump(ConnectionEnd& end, int64_t now_ns);
  // Likewise when an acknowledgement has come, up to a segment's time later, at
  // random, unless the link is busy anyway: without that, flows with equal
  // round trips can keep losing against each other for ever (phase effects:
  // Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
  // 1992).
  void PumpAfterAck(ConnectionEnd& end, int64_t now_ns);
  void SendSegment(ConnectionEnd& end, int64_t now_ns);
  void SendAck(ConnectionEnd& end, int64_t now_ns);
  void SendPacket(ConnectionEnd& end, const TcpSegment& segment,
                  int64_t now_ns);
  bool IsLost(const SimulatedPacket& packet, Node& node) const;
  void Forward(SimulatedPacket& packet, int64_t now_ns);

  void Receive(ConnectionEnd& end, const SimulatedPacket& packet,
               int64_t now_ns);
  void ReceiveData(ConnectionEnd& end, const SimulatedPacket& packet,
                   int64_t now_ns);
  static void Deliver(ConnectionEnd& end);

  void WatchDeadline(ConnectionEnd& end);
  void DelayAck(ConnectionEnd& end, int64_t now_ns);
  void WaitForLink(ConnectionEnd& end);
  void ScheduleLinkDrained(const ConnectionEnd& end);
  static double HostQueueBytes(const Link& link);
  static bool HasRoom(const Link& link, int64_t now_ns);
  Link& HostLink(const ConnectionEnd& end) { return links_[end.path.front()]; }

  const TcpSettings settings_;
  const RandomLoss loss_;
  Simulator& simulator_;
  ConnectionTable connections_;
  std::vector<Link> links_;
  std::vector<Node> nodes_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_NETWORK_H_
