// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Estimates how far another host's clock is from this one's, by asking it for
// the time.

#ifndef DISTBENCH_SEQUENCER_NODES_CLOCK_OFFSET_H_
#define DISTBENCH_SEQUENCER_NODES_CLOCK_OFFSET_H_

#include <cstdint>
#include <deque>
#include <optional>

namespace distbench::sequencer {

// The other clock minus ours, and the bound of the error, in nanoseconds.
struct ClockOffset {
  int64_t offset_ns = 0;
  int64_t error_ns = 0;

  // Whether the clocks are known to differ at all.
  bool exceeds_error() const {
    return offset_ns > error_ns || offset_ns < -error_ns;
  }
};

// Keeps the last round trips and trusts the shortest of them: the error is at
// most half of its duration. Not thread-safe.
class ClockOffsetEstimator {
 public:
  // Older round trips are forgotten, because clocks drift.
  static constexpr int kRoundTrips = 16;

  // sent_ns and received_ns are by our clock, when the question left and when
  // the answer arrived; remote_ns is by the other clock, in between. Ignores
  // times before the epoch, and round trips during which our clock was set
  // back.
  void AddRoundTrip(int64_t sent_ns, int64_t remote_ns, int64_t received_ns);

  // Absent before the first round trip.
  std::optional<ClockOffset> estimate() const;

 private:
  std::deque<ClockOffset> round_trips_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_CLOCK_OFFSET_H_
