// How much a sender may have under way: TCP's congestion window, in bytes.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_CONGESTION_WINDOW_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_CONGESTION_WINDOW_H_

#include <cstdint>

#include "distbench/products/simulation/network/tcp_settings.h"

namespace distbench::simulation {

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

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_CONGESTION_WINDOW_H_
