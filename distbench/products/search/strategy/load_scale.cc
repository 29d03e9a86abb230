// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/load_scale.h"

#include <algorithm>
#include <cmath>

namespace distbench::search {
namespace {

// The reciprocal of a reciprocal differs from the number by rounding. Whole
// numbers that are closer than this, relatively, are meant.
constexpr double kRounding = 1e-12;

double SnapToWhole(double load) {
  const double whole = std::round(load);
  return std::abs(load - whole) <= kRounding * whole ? whole : load;
}

}  // namespace

LoadScale::LoadScale(double min_load, double max_load, bool is_whole,
                     bool finds_lowest)
    : is_whole_(is_whole), finds_lowest_(finds_lowest) {
  if (is_whole) {
    min_load = std::ceil(min_load);
    max_load = std::max(std::floor(max_load), min_load);
  }
  easiest_ = HardnessOf(finds_lowest ? max_load : min_load);
  hardest_ = HardnessOf(finds_lowest ? min_load : max_load);
}

double LoadScale::HardnessOf(double load) const {
  return finds_lowest_ ? 1 / load : load;
}

double LoadScale::LoadOf(double hardness) const {
  if (!finds_lowest_) return hardness;
  return is_whole_ ? SnapToWhole(1 / hardness) : 1 / hardness;
}

Probe LoadScale::ToHardness(const Probe& probe) const {
  if (!finds_lowest_) return probe;
  Probe converted = probe;
  const double share = probe.achieved_load / probe.request.load;
  converted.request.load = HardnessOf(probe.request.load);
  converted.achieved_load = share * converted.request.load;
  return converted;
}

Probe LoadScale::ToLoads(const Probe& probe) const {
  if (!finds_lowest_) return probe;
  Probe converted = probe;
  const double share = probe.achieved_load / probe.request.load;
  converted.request.load = LoadOf(probe.request.load);
  converted.achieved_load = share * converted.request.load;
  return converted;
}

LoadInterval LoadScale::ToLoads(const LoadInterval& interval) const {
  if (!finds_lowest_) return interval;
  LoadInterval loads;
  if (interval.max) loads.min = LoadOf(*interval.max);
  if (interval.min) loads.max = LoadOf(*interval.min);
  return loads;
}

double LoadScale::Allowed(double hardness) const {
  const double wanted =
      is_whole_ ? HardnessOf(std::round(LoadOf(hardness))) : hardness;
  return std::clamp(wanted, easiest_, hardest_);
}

double LoadScale::NotHarder(double hardness) const {
  if (!is_whole_) return hardness;
  const double load = LoadOf(hardness);
  return HardnessOf(finds_lowest_ ? std::ceil(load) : std::floor(load));
}

double LoadScale::NotEasier(double hardness) const {
  if (!is_whole_) return hardness;
  const double load = LoadOf(hardness);
  // Less than 1 is not a whole number that a reciprocal could be of.
  return HardnessOf(finds_lowest_ ? std::max(1.0, std::floor(load))
                                  : std::ceil(load));
}

double LoadScale::NextEasier(double hardness) const {
  const double load = LoadOf(hardness);
  return HardnessOf(finds_lowest_ ? load + 1 : load - 1);
}

bool LoadScale::AreNeighbours(double hardness, double other) const {
  return is_whole_ && std::abs(LoadOf(hardness) - LoadOf(other)) <= 1;
}

LoadInterval AroundAnswer(const LoadInterval& interval, double answer,
                          const LoadScale& scale) {
  LoadInterval around = interval;
  if (scale.is_whole()) {
    if (around.min) around.min = scale.NotHarder(*around.min);
    // The bound itself may be a load that missed.
    if (around.max) around.max = scale.NextEasier(scale.NotEasier(*around.max));
  }
  if (around.min) around.min = std::min(*around.min, answer);
  if (around.max) around.max = std::max(*around.max, answer);
  return around;
}

}  // namespace distbench::search
