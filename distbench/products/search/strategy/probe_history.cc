#include "distbench/products/search/strategy/probe_history.h"

#include <algorithm>
#include <cmath>

namespace distbench::search {
namespace {

// Measurements farther from the limit say little about the errors near it.
constexpr double kNear = 0.5;

// Returns the variance of a measurement of one second, from the errors of those
// near the limit. Long ones count for more.
double VariancePerSecond(const std::vector<const Probe*>& probes) {
  double seconds = 0;
  double sum = 0;
  for (const Probe* probe : probes) {
    if (std::abs(probe->excess) > kNear) continue;
    if (!std::isfinite(probe->excess_error)) continue;
    seconds += probe->seconds;
    sum += std::pow(probe->seconds * probe->excess_error, 2);
  }
  return seconds > 0 ? sum / seconds : 0;
}

}  // namespace

void ProbeHistory::OverruleMisses(double load) {
  for (size_t i = 0; i + 1 < probes_.size(); ++i) {
    if (probes_[i].request.load == load && Missed(probes_[i])) {
      overruled_.insert(i);
    }
  }
}

ProbeHistory::Bounds ProbeHistory::FindBounds() const {
  Bounds bounds;
  for (const Probe* probe : Counted()) {
    // A recovery probe repeats a load whose first measurement counts.
    if (probe->request.phase == ProbePhase::kRecovery) continue;
    const double load = probe->request.load;
    if (Met(*probe)) {
      bounds.met = std::max(bounds.met.value_or(load), load);
    } else if (!bounds.missed || load < *bounds.missed) {
      bounds.missed = load;
      bounds.generator_is_bound = probe->generator_limited;
    }
  }
  return bounds;
}

const Probe* ProbeHistory::LowestMiss(bool (*is_miss)(const Probe&)) const {
  const Probe* miss = nullptr;
  for (const Probe* probe : Counted()) {
    if (!is_miss(*probe)) continue;
    if (miss == nullptr || probe->request.load < miss->request.load) {
      miss = probe;
    }
  }
  return miss;
}

std::optional<Probe> ProbeHistory::FinalRunsAt(double load) const {
  Probe all;
  double length = 0;
  double excess = 0;
  double variance = 0;
  for (const Probe* probe : Counted()) {
    const ProbeRequest& request = probe->request;
    if (request.phase != ProbePhase::kFinal || request.load != load) continue;
    all = *probe;
    length += request.length;
    excess += request.length * probe->excess;
    variance += std::pow(request.length * probe->excess_error, 2);
  }
  if (length == 0) return std::nullopt;
  all.request.length = length;
  all.excess = excess / length;
  all.excess_error = std::sqrt(variance) / length;
  return all;
}

ProbeHistory ProbeHistory::WithSharedErrors() const {
  const double variance = VariancePerSecond(Counted());
  ProbeHistory shared = *this;
  for (Probe& probe : shared.probes_) {
    if (std::isinf(probe.excess)) continue;
    probe.excess_error =
        std::max(probe.excess_error, std::sqrt(variance / probe.seconds));
  }
  return shared;
}

double ProbeHistory::FinalLength() const {
  double length = 0;
  for (const Probe& probe : probes_) {
    if (probe.request.phase == ProbePhase::kFinal) {
      length += probe.request.length;
    }
  }
  return length;
}

double ProbeHistory::HighestClearMeet() const {
  double highest = 0;
  for (const Probe* probe : Counted()) {
    if (ClearlyMet(*probe)) highest = std::max(highest, probe->request.load);
  }
  return highest;
}

const Probe* ProbeHistory::LastRefined(double load, double tolerance) const {
  const auto is_there = [&](const Probe& probe) {
    return probe.request.phase == ProbePhase::kRefine &&
           std::abs(std::log(probe.request.load / load)) < tolerance;
  };
  const auto found = std::find_if(probes_.rbegin(), probes_.rend(), is_there);
  return found == probes_.rend() ? nullptr : &*found;
}

std::optional<Crossing> ProbeHistory::FitLine() const {
  const std::vector<const Probe*> counted = Counted();
  const double variance = VariancePerSecond(counted);
  std::vector<Measurement> measurements;
  for (const Probe* probe : counted) {
    if (probe->generator_limited) continue;
    if (!std::isfinite(probe->excess_error)) continue;
    // The load that was actually sent explains a measurement better than the
    // requested one, because random arrivals differ between probes.
    const double load =
        probe->achieved_load > 0 ? probe->achieved_load : probe->request.load;
    measurements.push_back({.x = std::log(load),
                            .y = probe->excess,
                            .error = std::sqrt(variance / probe->seconds)});
  }
  return FindCrossing(measurements);
}

std::vector<const Probe*> ProbeHistory::Counted() const {
  std::vector<const Probe*> counted;
  for (size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].request.phase == ProbePhase::kWarmup) continue;
    if (!overruled_.contains(i)) counted.push_back(&probes_[i]);
  }
  return counted;
}

}  // namespace distbench::search
