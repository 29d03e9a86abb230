// The two ends of one direction of a TCP connection: NewReno, or DCTCP.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "proto/simulation.pb.h"

namespace distbench::simulation {

// What the senders and receivers of all connections have in common.

struct TcpSettings {
  bool dctcp = false;
  int64_t segment_bytes = 0;
  int64_t header_bytes = 0;
  int64_t initial_window_bytes = 0;
  int64_t max_window_bytes = 0;
  int64_t min_timeout_ns = 0;

  // How long an acknowledgement may wait for data that goes the same way: 40 ms
  // as in Linux, which also keeps it below the smallest timeout, so that
  // waiting does not look like a loss.
  int64_t delayed_ack_ns = 0;
};

TcpSettings MakeTcpSettings(const SimulatedTransport& transport);

// How much a sender may have under way: TCP's congestion window, in bytes.

// Slow start and congestion avoidance of RFC 5681 with the byte counting of RFC
// 3465 (L = 2), fast recovery of RFC 6582, and the reaction to marks of RFC
// 8257 (DCTCP). Offsets are positions in the sender's stream of bytes.
class CongestionWindow {
 public:
  explicit CongestionWindow(const TcpSettings& settings)
      : settings_(settings),
        bytes_(static_cast<double>(settings.initial_window_bytes)),
        threshold_bytes_(static_cast<double>(settings.max_window_bytes)) {}

  double bytes() const { return bytes_; }
  // The share of bytes that were marked, on average (DCTCP).
  double alpha() const { return alpha_; }

  // `acked` bytes are new; before, flight_bytes were under way, and used_bytes
  // when a segment was sent last. A window that was not used does not grow. As
  // in Linux, the last burst counts for slow start only: otherwise, a window
  // that only its host's link limits would grow for ever.
  void OnAck(int64_t acked, int64_t flight_bytes, int64_t used_bytes);

  // DCTCP, for each acknowledgement: of what, with a mark or without, and the
  // next byte to be sent. Returns whether the window may grow.
  bool OnMarks(int64_t acked, bool marked, int64_t acked_offset,
               int64_t next_offset, bool in_recovery);

  // Fast recovery: begins with three duplicates, grows with each further one,
  // shrinks by what partial acknowledgements cover, and ends.
  void BeginRecovery(int64_t flight_bytes);
  void OnDuplicate() { bytes_ += segment(); }
  void OnPartialAck(int64_t acked);
  void EndRecovery(int64_t flight_bytes);

  // is_first: it is not the repetition of a timeout.
  void OnTimeout(int64_t flight_bytes, bool is_first);

  // Nothing was sent for so long. As Linux: half for each timeout that has
  // passed, down to the initial window, while the threshold remembers 3/4.
  void OnIdle(int64_t idle_ns, int64_t timeout_ns);

 private:
  double segment() const {
    return static_cast<double>(settings_.segment_bytes);
  }
  void HalveThreshold(int64_t flight_bytes);

  const TcpSettings& settings_;
  double bytes_;
  double threshold_bytes_;  // below it: slow start

  double alpha_ = 1;
  int64_t observed_bytes_ = 0;  // acknowledged in this observation window
  int64_t marked_bytes_ = 0;
  int64_t observation_end_ = 0;
  int64_t reduced_until_ = 0;  // one reduction for all data up to here
};

// When a segment counts as lost: the retransmission timeout of RFC 6298.

class RoundTripEstimate {
 public:
  // Starts with one measurement, as that of a handshake.
  explicit RoundTripEstimate(int64_t first_ns)
      : smoothed_ns_(first_ns), variation_ns_(first_ns / 2) {}

  void Add(int64_t round_trip_ns) {
    variation_ns_ +=
        (std::abs(smoothed_ns_ - round_trip_ns) - variation_ns_) / 4;
    smoothed_ns_ += (round_trip_ns - smoothed_ns_) / 8;
  }

  // After so many timeouts without progress.
  int64_t timeout_ns(int64_t min_ns, int repetitions) const {
    constexpr int64_t kMaxNs = 120'000'000'000;  // as Linux
    const int64_t first_ns = std::max(min_ns, smoothed_ns_ + 4 * variation_ns_);
    return std::min(first_ns << std::min(repetitions, 20), kMaxNs);
  }

  int64_t smoothed_ns() const { return smoothed_ns_; }

 private:
  int64_t smoothed_ns_;
  int64_t variation_ns_;
};

// One direction of a connection, at the end that sends: TCP NewReno, or DCTCP.

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

// One direction of a connection, at the end that receives.

// Puts segments in order, and says when to acknowledge them (RFC 5681, and as
// Linux does): at once if more than one full segment is not acknowledged, if
// segments are missing, were missing or come twice, and each of the first ones
// of a connection, or after a pause, as long as its traffic goes one way only;
// otherwise with the next data, or after delayed_ack_ns. With DCTCP, also
// whenever marks begin or end (RFC 8257).
class TcpReceiver {
 public:
  explicit TcpReceiver(const TcpSettings& settings) : settings_(settings) {}

  // Whether what is not acknowledged must be, before this segment changes what
  // acknowledgements say about marks.
  bool MustAckBefore(bool marked) const {
    return settings_.dctcp && marked != marked_ && owes_ack();
  }

  enum class AckTime { kNow, kDelayed };
  // stamp_ns: when the segment was sent, for the acknowledgement's echo.
  AckTime OnSegment(int64_t offset, int64_t bytes, bool marked,
                    int64_t stamp_ns, int64_t now_ns);

  // An acknowledgement has been sent: alone, with data, or because it has
  // waited for long enough.
  void OnAckSent() {
    acked_ = next_;
    owes_ack_ = false;
  }
  void OnDataSent(int64_t now_ns) {
    const bool is_answer =
        next_ > 0 && now_ns - last_received_ns_ < settings_.delayed_ack_ns;
    if (is_answer) goes_both_ways_ = true;
  }
  void OnAckDelayed() { goes_both_ways_ = false; }

  // What an acknowledgement says. All bytes before next() have arrived.
  int64_t next() const { return next_; }
  bool marked() const { return marked_; }
  int64_t echoed_stamp_ns() const { return stamp_ns_; }

  bool owes_ack() const { return owes_ack_; }
  bool has_gap() const { return !islands_.empty(); }

 private:
  static constexpr int kQuickAcks = 16;

  // Bytes that arrived after missing ones.
  struct Island {
    int64_t begin;
    int64_t end;
  };
  void AddIsland(int64_t begin, int64_t end);
  void JoinIslands();

  const TcpSettings& settings_;
  int64_t next_ = 0;
  int64_t acked_ = 0;
  int64_t stamp_ns_ = 0;
  int64_t last_received_ns_ = 0;
  std::vector<Island> islands_;  // in order, apart from each other
  int quick_acks_ = kQuickAcks;
  bool goes_both_ways_ = false;
  bool owes_ack_ = false;
  bool marked_ = false;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_H_
