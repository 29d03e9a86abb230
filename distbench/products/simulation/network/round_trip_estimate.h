// When a segment counts as lost: the retransmission timeout of RFC 6298.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_ROUND_TRIP_ESTIMATE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_ROUND_TRIP_ESTIMATE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace distbench::simulation {

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

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_ROUND_TRIP_ESTIMATE_H_
