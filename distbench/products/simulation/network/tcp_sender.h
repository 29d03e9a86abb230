// One direction of a connection, at the end that sends: TCP NewReno, or DCTCP.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SENDER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SENDER_H_

#include <cstdint>
#include <limits>

#include "distbench/products/simulation/network/congestion_window.h"
#include "distbench/products/simulation/network/round_trip_estimate.h"
#include "distbench/products/simulation/network/tcp_settings.h"

namespace distbench::simulation {

// Part of a stream of bytes: [offset, offset + bytes).
struct TcpSegment {
  int64_t offset = 0;
  int32_t bytes = 0;
  bool is_repeated = false;
};

// A state machine without clock or network: the owner tells it what happens,
// and takes segments from it while it has any and there is room for them.
//
// Cumulative acknowledgements; three duplicates repeat a segment (RFC 5681,
// with the limited transmit of RFC 3042), and partial acknowledgements the next
// ones (RFC 6582). After a timeout everything is sent again from the first
// missing byte, in slow start. There are no selective acknowledgements and no
// tail loss probes, which Linux has: where a window has many losses, or its
// last segments are lost, this sender recovers later.
class TcpSender {
 public:
  // round_trip_ns: of the empty path, as a handshake would have measured it.
  TcpSender(const TcpSettings& settings, int64_t round_trip_ns)
      : settings_(settings), window_(settings), round_trip_(round_trip_ns) {}

  void Write(int64_t bytes, int64_t now_ns);

  bool MaySend() const;
  // Requires MaySend().
  TcpSegment Next(int64_t now_ns);

  struct Ack {
    int64_t offset = 0;  // of the first byte that the peer does not have
    bool marked = false;
    bool has_data = false;      // then it is not a duplicate
    int64_t round_trip_ns = 0;  // by the time stamp that it echoes
  };
  void OnAck(const Ack& ack, int64_t now_ns);

  // When OnTimeout() is due. kNoDeadline: never, nothing is under way.
  static constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();
  int64_t deadline_ns() const { return deadline_ns_; }
  void OnTimeout(int64_t now_ns);

  int64_t written() const { return end_; }
  const CongestionWindow& window() const { return window_; }

 private:
  // How many bytes the next segment of [next_, end_) has.
  int64_t NextBytes() const;
  int64_t flight_bytes() const { return next_ - acked_; }
  void OnNewAck(const Ack& ack, bool may_grow, int64_t now_ns);
  void OnDuplicateAck();
  void RestartTimer(int64_t now_ns);

  const TcpSettings& settings_;
  CongestionWindow window_;
  RoundTripEstimate round_trip_;

  // acked_ <= next_ <= sent_ <= end_: next_ is behind sent_ after a timeout.
  int64_t acked_ = 0;
  int64_t next_ = 0;
  int64_t sent_ = 0;
  int64_t end_ = 0;

  int64_t used_window_ = 0;   // what was under way when a segment was sent last
  int64_t recovery_end_ = 0;  // what was sent when the last loss was noticed
  int64_t last_sent_ns_ = 0;
  int64_t deadline_ns_ = kNoDeadline;
  int32_t duplicates_ = 0;
  int16_t timeouts_ = 0;  // without progress in between
  bool in_recovery_ = false;
  bool repeats_first_ = false;  // the segment at acked_ is to be sent next
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_SENDER_H_
