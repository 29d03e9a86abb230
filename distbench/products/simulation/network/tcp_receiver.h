// One direction of a connection, at the end that receives.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_RECEIVER_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_RECEIVER_H_

#include <cstdint>
#include <vector>

#include "distbench/products/simulation/network/tcp_settings.h"

namespace distbench::simulation {

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

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TCP_RECEIVER_H_
