// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/clock_offset.h"

#include <algorithm>

namespace distbench::sequencer {

void ClockOffsetEstimator::AddRoundTrip(int64_t sent_ns, int64_t remote_ns,
                                        int64_t received_ns) {
  // Such times are invalid, and differences of them may overflow.
  if (sent_ns < 0 || remote_ns < 0 || received_ns < sent_ns) return;
  const int64_t half_ns = (received_ns - sent_ns) / 2;
  // Rounded up, so that the bound holds.
  round_trips_.push_back(
      {.offset_ns = remote_ns - (sent_ns + half_ns), .error_ns = half_ns + 1});
  if (round_trips_.size() > kRoundTrips) round_trips_.pop_front();
}

std::optional<ClockOffset> ClockOffsetEstimator::estimate() const {
  if (round_trips_.empty()) return std::nullopt;
  return *std::min_element(round_trips_.begin(), round_trips_.end(),
                           [](const ClockOffset& a, const ClockOffset& b) {
                             return a.error_ns < b.error_ns;
                           });
}

}  // namespace distbench::sequencer
