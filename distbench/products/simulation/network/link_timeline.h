// When a link has transmitted what was given to it.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_LINK_TIMELINE_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_LINK_TIMELINE_H_

#include <algorithm>
#include <cstdint>

namespace distbench::simulation {

// First come, first served, one after the other. As the order never changes,
// the time at which the link will be free says all about the queue in front of
// it.
class LinkTimeline {
 public:
  LinkTimeline() = default;
  explicit LinkTimeline(double bytes_per_ns)
      : bytes_per_ns_(bytes_per_ns), ns_per_byte_(1 / bytes_per_ns) {}

  // Transmits so many bytes from `earliest_ns` on, or when the link is free,
  // and returns when the last one has left. Fractions of nanoseconds carry over
  // to what follows without a pause, so that rates are exact.
  int64_t Transmit(int64_t earliest_ns, int64_t bytes) {
    Hold(earliest_ns);
    const double duration_ns =
        std::min(static_cast<double>(bytes) * ns_per_byte_ + fraction_ns_,
                 static_cast<double>(kLongestNs));
    const auto whole_ns = static_cast<int64_t>(duration_ns);
    fraction_ns_ = duration_ns - static_cast<double>(whole_ns);
    free_ns_ = std::max(free_ns_, std::min(free_ns_ + whole_ns, kNeverNs));
    return free_ns_;
  }

  // Does not transmit before this time.
  void Hold(int64_t until_ns) {
    if (until_ns > free_ns_) {
      free_ns_ = until_ns;
      fraction_ns_ = 0;
    }
  }

  // When it is free.
  int64_t free_ns() const { return free_ns_; }

  // What it still has to transmit, with the rest of what it is transmitting.
  double backlog_bytes(int64_t now_ns) const {
    return static_cast<double>(std::max<int64_t>(free_ns_ - now_ns, 0)) *
           bytes_per_ns_;
  }

  double bytes_per_ns() const { return bytes_per_ns_; }

 private:
  // Thirty years: what takes longer never ends, and must not overflow.
  static constexpr int64_t kLongestNs = 1'000'000'000'000'000'000;
  static constexpr int64_t kNeverNs = 2 * kLongestNs;

  double bytes_per_ns_ = 1;
  double ns_per_byte_ = 1;
  double fraction_ns_ = 0;
  int64_t free_ns_ = 0;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_LINK_TIMELINE_H_
