#include "distbench/stats/outcomes.h"

#include <algorithm>

namespace distbench {

double Outcomes::failed_share() const {
  return count() == 0 ? 0
                      : static_cast<double>(failed_count) /
                            static_cast<double>(count());
}

void Outcomes::Merge(const Outcomes& other) {
  latency_ns.Merge(other.latency_ns);
  failed_count += other.failed_count;
}

int64_t Outcomes::ValueAtQuantile(double quantile) const {
  if (failed_count == 0) return latency_ns.ValueAtQuantile(quantile);
  const uint64_t position = std::min(
      static_cast<uint64_t>(static_cast<double>(count()) * quantile),
      count() - 1);
  if (position >= latency_ns.count()) return kFailed;
  // The middle of the position, so that rounding does not find its neighbour.
  return latency_ns.ValueAtQuantile(
      (static_cast<double>(position) + 0.5) /
      static_cast<double>(latency_ns.count()));
}

}  // namespace distbench
