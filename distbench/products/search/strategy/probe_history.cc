// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/probe_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/str_format.h"
#include "distbench/stats/distributions.h"

namespace distbench::search {
namespace {

// In standard errors.
constexpr double kClearlyOff = 3;

}  // namespace

absl::string_view ToString(ProbePhase phase) {
  switch (phase) {
    case ProbePhase::kWarmup:
      return "warmup";
    case ProbePhase::kBracket:
      return "bracket";
    case ProbePhase::kRecovery:
      return "recovery";
    case ProbePhase::kRefine:
      return "refine";
    case ProbePhase::kFinal:
      return "final";
  }
  return "";
}

std::optional<ProbePhase> ParseProbePhase(absl::string_view name) {
  for (const ProbePhase phase :
       {ProbePhase::kWarmup, ProbePhase::kBracket, ProbePhase::kRecovery,
        ProbePhase::kRefine, ProbePhase::kFinal}) {
    if (ToString(phase) == name) return phase;
  }
  return std::nullopt;
}

bool Met(const Probe& probe) {
  return !probe.generator_limited && !probe.is_too_low && probe.excess <= 0;
}

bool Missed(const Probe& probe) {
  return !probe.generator_limited && !probe.is_too_low && probe.excess > 0;
}

double ClearDistance(const Probe& probe) {
  return kClearlyOff * probe.excess_error;
}

bool ClearlyMet(const Probe& probe) {
  return Met(probe) && probe.excess < -ClearDistance(probe);
}

bool ClearlyMissed(const Probe& probe) {
  return Missed(probe) && probe.excess > ClearDistance(probe);
}

std::string Describe(const Probe& probe) {
  if (probe.generator_limited) {
    // What missed was sent, but late.
    return probe.excess <= 0 && probe.achieved_load < probe.request.load
               ? absl::StrFormat("only %.6g of %.6g could be generated",
                                 probe.achieved_load, probe.request.load)
               : absl::StrFormat("%.6g was not generated in time",
                                 probe.request.load);
  }
  const std::string evidence =
      std::isinf(probe.excess)
          ? "no steady value near its limit"
          : absl::StrFormat("%.3g of its limit", std::exp(probe.excess));
  return absl::StrFormat("%.6g %s the objective (%s)", probe.request.load,
                         probe.excess <= 0 ? "met" : "missed", evidence);
}

namespace {

// A measurement's minimum error, as a share of its distance from zero: how far
// a curve may deviate from its tangent.
constexpr double kCurvature = 0.15;

// Measurements farther away say nothing about the crossing.
constexpr double kMaxDistance = 1.0;

// Below this variance of x, all measurements are at one place.
constexpr double kMinVariance = 1e-8;

// Keeps weights finite.
constexpr double kMinError = 1e-4;

double Weight(const Measurement& measurement) {
  const double error =
      std::hypot(measurement.error, kCurvature * measurement.y, kMinError);
  return 1 / (error * error);
}

struct Scatter {
  // How much more the measurements scatter around the line than their errors
  // explain: the square root of chi-square per degree of freedom, at least 1.
  double factor = 1;

  // The standard errors from an estimate to a bound of its interval. They are
  // more if the scatter, known from few measurements, decides.
  double errors_to_bound = kErrorsToBound;
};

Scatter ScatterOf(const std::vector<Measurement>& measurements, double mean_x,
                  double mean_y, double slope) {
  double chi_square = 0;
  int freedom = -2;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double residual = each.y - mean_y - slope * (each.x - mean_x);
    chi_square += Weight(each) * residual * residual;
    ++freedom;
  }
  Scatter scatter;
  if (freedom > 0 && chi_square > freedom) {
    scatter.factor = std::sqrt(chi_square / freedom);
    scatter.errors_to_bound =
        stats::StudentTQuantile((1 + kSearchConfidence) / 2, freedom);
  }
  return scatter;
}

}  // namespace

std::optional<Crossing> FindCrossing(
    const std::vector<Measurement>& measurements) {
  double sum = 0, sum_x = 0, sum_y = 0;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double weight = Weight(each);
    sum += weight;
    sum_x += weight * each.x;
    sum_y += weight * each.y;
  }
  if (sum == 0) return std::nullopt;
  const double mean_x = sum_x / sum;
  const double mean_y = sum_y / sum;
  double sum_xx = 0, sum_xy = 0;
  for (const Measurement& each : measurements) {
    if (std::abs(each.y) > kMaxDistance) continue;
    const double weight = Weight(each);
    sum_xx += weight * (each.x - mean_x) * (each.x - mean_x);
    sum_xy += weight * (each.x - mean_x) * each.y;
  }
  if (sum_xx < kMinVariance * sum) return std::nullopt;
  const double slope = sum_xy / sum_xx;
  const Scatter scatter = ScatterOf(measurements, mean_x, mean_y, slope);
  const double slope_error = scatter.factor / std::sqrt(sum_xx);
  if (slope < 2 * slope_error) return std::nullopt;
  const double distance = -mean_y / slope;  // from mean_x
  const double error =
      std::hypot(scatter.factor / std::sqrt(sum), distance * slope_error) /
      slope;
  return Crossing{.x = mean_x + distance,
                  .error = error,
                  .slope = slope,
                  .half_width = scatter.errors_to_bound * error};
}

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

// All of the runs, at least one, as one in which each counts by its length.
//
// What is averaged is measured / limit, not its logarithm: of a run without
// failures, the logarithm is any low number, and would outweigh runs that
// missed. Ratios are relative to the highest, which may be infinite. The error
// follows by the delta method.
Probe MeanOf(const std::vector<const Probe*>& runs) {
  Probe mean = *runs.back();
  for (const Probe* run : runs) {
    mean.excess = std::max(mean.excess, run->excess);
  }
  double length = 0;
  double sum = 0;
  double variance = 0;
  for (const Probe* run : runs) {
    length += run->request.length;
    // The difference of infinities is not a number.
    const double ratio =
        run->excess == mean.excess ? 1 : std::exp(run->excess - mean.excess);
    if (ratio == 0) continue;
    const double part = run->request.length * ratio;
    sum += part;
    variance += std::pow(part * run->excess_error, 2);
  }
  mean.request.length = length;
  mean.excess += std::log(sum / length);
  mean.excess_error = std::sqrt(variance) / sum;
  return mean;
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
    // All final runs at a load together are what decides on it, rather than one
    // of them, or a shorter probe before.
    const Probe judged = FinalRunsAt(load).value_or(*probe);
    if (Met(judged)) {
      bounds.met = std::max(bounds.met.value_or(load), load);
    } else if (!bounds.missed || load < *bounds.missed) {
      bounds.missed = load;
      bounds.generator_is_bound = judged.generator_limited;
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
  std::vector<const Probe*> runs;
  for (const Probe* probe : Counted()) {
    const ProbeRequest& request = probe->request;
    if (request.phase != ProbePhase::kFinal || request.load != load) continue;
    runs.push_back(probe);
  }
  if (runs.empty()) return std::nullopt;
  return MeanOf(runs);
}

std::vector<Probe> ProbeHistory::JudgedLoads() const {
  std::map<double, Probe> judged;
  for (const Probe* probe : Counted()) {
    if (probe->request.phase == ProbePhase::kRecovery) continue;
    const double load = probe->request.load;
    judged.insert_or_assign(load, FinalRunsAt(load).value_or(*probe));
  }
  std::vector<Probe> probes;
  for (const auto& [load, probe] : judged) probes.push_back(probe);
  return probes;
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

double ProbeHistory::ShortestSeconds() const {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Probe* probe : Counted()) {
    if (std::isfinite(probe->excess)) {
      shortest = std::min(shortest, probe->seconds);
    }
  }
  return shortest;
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

std::optional<Crossing> ProbeHistory::FitLine(const Probe* left_out) const {
  const std::vector<const Probe*> counted = Counted();
  const double variance = VariancePerSecond(counted);
  std::vector<Measurement> measurements;
  for (const Probe* probe : counted) {
    if (probe->generator_limited || probe == left_out) continue;
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
    if (probes_[i].is_too_low) continue;
    if (!overruled_.contains(i)) counted.push_back(&probes_[i]);
  }
  return counted;
}

namespace {

LoadInterval IntervalOfLine(const ProbeHistory& history) {
  const std::optional<Crossing> crossing = history.FitLine();
  if (!crossing) return {};
  return {.min = std::exp(crossing->x - crossing->half_width),
          .max = std::exp(crossing->x + crossing->half_width)};
}

}  // namespace

LoadInterval FindInterval(const ProbeHistory& history) {
  LoadInterval interval = IntervalOfLine(history);
  if (history.LowestMiss(&Missed) == nullptr) interval.max.reset();
  const ProbeHistory cautious = history.WithSharedErrors();
  const double met = cautious.HighestClearMeet();  // 0 if there is none
  if (met > 0) interval.min = std::max(interval.min.value_or(met), met);
  if (const Probe* miss = cautious.LowestMiss(&ClearlyMissed)) {
    const double missed = miss->request.load;
    interval.max = std::min(interval.max.value_or(missed), missed);
  }
  return interval;
}

bool IsProven(const LoadInterval& interval, double load) {
  return interval.min && *interval.min >= load;
}

}  // namespace distbench::search
