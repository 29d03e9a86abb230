// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/percentile_curve.h"

#include <cmath>

namespace distbench::stats {
namespace {

// The first tick above `share`. Ticks divide each halving of the remaining
// share into equal parts.
double NextTick(double share, int points_per_halving) {
  const double halvings = std::floor(-std::log2(1 - share));
  const double step = std::exp2(-halvings - 1) / points_per_halving;
  return (std::floor(share / step + 1e-9) + 1) * step;
}

}  // namespace

std::vector<CurvePoint> PercentileCurve(const LogHistogram& histogram,
                                        int points_per_halving) {
  std::vector<CurvePoint> curve;
  if (histogram.count() == 0) return curve;
  const double total = static_cast<double>(histogram.count());
  uint64_t count = 0;
  double next_tick = 0;
  for (const LogHistogram::Bucket& bucket : histogram.Buckets()) {
    count += bucket.count;
    if (count == histogram.count()) break;
    const double share = static_cast<double>(count) / total;
    if (share < next_tick) continue;
    curve.push_back({bucket.upper, count});
    next_tick = NextTick(share, points_per_halving);
  }
  curve.push_back({histogram.max(), histogram.count()});
  return curve;
}

}  // namespace distbench::stats
