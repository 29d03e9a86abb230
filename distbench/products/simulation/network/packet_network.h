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

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/work_random.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/network/link_timeline.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/products/simulation/network/returning_pool.h"
#include "distbench/products/simulation/network/tcp.h"

namespace distbench::simulation {

// The messages in one direction of a connection, from the end that sends them
// to the one that receives them.

struct StreamMessage : ReturningObject<StreamMessage> {
  int64_t end_offset;  // in the stream of bytes
  SimulatedEventHandler* receiver;
  SimulatedEvent arrival;
  std::atomic<StreamMessage*> next;
};

// A list of which one thread writes the end while another one reads the front.
// Packets only carry numbers of bytes: what these mean is looked up here, where
// it was written long before the bytes arrive. So it does not matter how soon
// the receiver sees what is written.
class StreamQueue {
 public:
  // The sender's end. The message comes from its pool.
  void Append(StreamMessage& message) {
    message.next.store(nullptr, std::memory_order_relaxed);
    (last_ == nullptr ? first_ : last_->next)
        .store(&message, std::memory_order_release);
    last_ = &message;
  }

  // The receiver's end: the next message, if its last byte is before `offset`,
  // or null. It is valid until the next call.
  const StreamMessage* Take(int64_t offset) {
    StreamMessage* next = (taken_ == nullptr ? first_ : taken_->next)
                              .load(std::memory_order_acquire);
    if (next == nullptr || next->end_offset > offset) return nullptr;
    // Only now: the sender may have needed it to append the next one.
    if (taken_ != nullptr) ReturningPool<StreamMessage>::Return(taken_);
    taken_ = next;
    return next;
  }

 private:
  std::atomic<StreamMessage*> first_ = nullptr;
  StreamMessage* last_ = nullptr;   // sender
  StreamMessage* taken_ = nullptr;  // receiver
};

// Connections of the network of packets, and what they send.

// A host's end of a connection: changed by events of that host only, except
// that the peer takes from `messages`.
struct ConnectionEnd {
  ConnectionEnd(const TcpSettings& settings, int host, int64_t round_trip_ns)
      : host(host), sender(settings, round_trip_ns), receiver(settings) {}

  const int host;
  bool waits_for_link = false;
  bool waits_to_ack = false;
  ConnectionEnd* peer = nullptr;
  absl::InlinedVector<int32_t, 4> path;  // links to the peer

  TcpSender sender;
  TcpReceiver receiver;
  StreamQueue messages;  // to the peer

  // The time of the event that looks at the sender's deadline, which may have
  // moved by then. 0: there is none.
  int64_t timer_event_ns = 0;

  // In the host's lists.
  ConnectionEnd* next_for_link = nullptr;
  ConnectionEnd* next_to_ack = nullptr;
  ConnectionEnd* previous_to_ack = nullptr;
  int64_t ack_deadline_ns = 0;
};

struct SimulatedPacket : ReturningObject<SimulatedPacket> {
  ConnectionEnd* from;
  int32_t hop;  // which link of the path it takes next

  TcpSegment segment;  // without bytes: an acknowledgement only
  int64_t stamp_ns;
  bool is_marked;

  int64_t acked_offset;
  int64_t echoed_stamp_ns;
  bool echoes_mark;
};

// All connections. Made when either end first uses them.
class ConnectionTable {
 public:
  // Both must outlive the table.
  ConnectionTable(const ClusterModel& model, const TcpSettings& settings)
      : model_(model), settings_(settings) {}

  // The end of `from_host`. Thread-safe; hosts remember what they got.
  ConnectionEnd& Find(uint64_t connection, int from_host, int to_host);

 private:
  struct Ends {
    Ends(const TcpSettings& settings, int host_a, int host_b,
         int64_t round_trip_ns)
        : a(settings, host_a, round_trip_ns),
          b(settings, host_b, round_trip_ns) {}
    ConnectionEnd a;
    ConnectionEnd b;
  };
  // The shortest time between sending a full segment and its acknowledgement.
  int64_t RoundTripNs(const std::vector<int>& there,
                      const std::vector<int>& back) const;

  const ClusterModel& model_;
  const TcpSettings& settings_;
  absl::Mutex mutex_;
  std::deque<Ends> ends_;
  absl::flat_hash_map<uint64_t, Ends*> by_connection_;
};

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
    base::WorkRandom random{0};
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
