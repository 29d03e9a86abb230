// Connections of the network of packets, and what they send.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_CONNECTION_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_CONNECTION_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/network/returning_pool.h"
#include "distbench/products/simulation/network/stream_queue.h"
#include "distbench/products/simulation/network/tcp_receiver.h"
#include "distbench/products/simulation/network/tcp_sender.h"

namespace distbench::simulation {

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

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_PACKET_CONNECTION_H_
