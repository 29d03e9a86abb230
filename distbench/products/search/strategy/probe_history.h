// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The probes of a search so far, and conclusions from them.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::search {

// A probe of a search: a run of the system at one load.

enum class ProbePhase { kWarmup, kBracket, kRecovery, kRefine, kFinal };
absl::string_view ToString(ProbePhase phase);

// The phase with this name; absent if there is none.
std::optional<ProbePhase> ParseProbePhase(absl::string_view name);

struct ProbeRequest {
  ProbePhase phase = ProbePhase::kWarmup;
  double load = 0;

  // The measured time, relative to the caller's length of a probe or, for final
  // runs, of a final run.
  double length = 1;
};

// The outcome of a probe.
struct Probe {
  ProbeRequest request;

  // The load that was actually sent, in the unit of the load.
  double achieved_load = 0;

  // The logarithm of measured / limit for the objective that was furthest from
  // being met. Negative values met. Infinite for a miss so clear that it was
  // not measured, or if RPCs failed.
  double excess = 0;

  // Its standard error towards the limit; infinite if the interval of the
  // measurement has no bound there.
  double excess_error = 0;

  // How long it measured, in seconds, above 0.
  double seconds = 1;

  // The load could not be generated, so the probe says nothing about the
  // system.
  bool generator_limited = false;

  // The system carried the load, which is itself less than an objective asks
  // for: only higher ones can meet.
  bool is_too_low = false;
};

// Both are false if the load could not be generated, or is too low.
bool Met(const Probe& probe);
bool Missed(const Probe& probe);

// Met or missed by several standard errors, which noise does not explain.
bool ClearlyMet(const Probe& probe);
bool ClearlyMissed(const Probe& probe);
double ClearDistance(const Probe& probe);

// The level of all confidence intervals of a search.
inline constexpr double kSearchConfidence = 0.95;

// The standard errors from an estimate to a bound of its 95 % confidence
// interval.
inline constexpr double kErrorsToBound = 1.96;

// For users, for example "500 missed the objective (1.2 of its limit)".
std::string Describe(const Probe& probe);

// Estimates where noisy measurements cross zero.

struct Measurement {
  double x;
  double y;
  double error;  // standard error of y, finite, not negative
};

struct Crossing {
  double x;
  double error;  // standard error of x
  double slope;  // of the line, positive

  // Half the width of the 95 % confidence interval of x.
  double half_width;
};

// Fits a line to the measurements by weighted least squares, and returns where
// it crosses zero. Because the true curve is not straight, measurements far
// from zero weigh less than their errors suggest. Absent if a rising line
// cannot be distinguished from a level one.
//
// The error is propagated from the errors of the line's two coefficients. These
// are scaled up if the measurements scatter more than their own errors explain;
// see W. H. Press et al., Numerical Recipes, 3rd ed., Cambridge 2007, section
// 15.2. The interval then has the quantile of Student's t distribution, because
// the scatter is known from few measurements.
std::optional<Crossing> FindCrossing(
    const std::vector<Measurement>& measurements);

class ProbeHistory {
 public:
  void Add(const Probe& probe) { probes_.push_back(probe); }

  const std::vector<Probe>& probes() const { return probes_; }

  // Ignores, from now on, misses at this load before the last probe.
  void OverruleMisses(double load);

  // The functions below ignore warm-ups and overruled probes.

  // The highest load that met, and the lowest that missed or could not be
  // generated, if any. The final runs at a load are one (FinalRunsAt). Near the
  // limit, noise may put the first above the second.
  struct Bounds {
    std::optional<double> met;
    std::optional<double> missed;
    bool generator_is_bound = false;  // of `missed`
  };
  Bounds FindBounds() const;

  // The probe with the lowest load for which `is_miss` is true; null if there
  // is none.
  const Probe* LowestMiss(bool (*is_miss)(const Probe&)) const;

  // All final runs at this load as one, whose measured / limit is the mean in
  // which each counts by its length; the generator limited it if it limited the
  // last of them. Absent if there are none.
  std::optional<Probe> FinalRunsAt(double load) const;

  // What is known of each load, in ascending order: all final runs at it as one
  // or, without any, its last probe that was no recovery.
  std::vector<Probe> JudgedLoads() const;

  // The length of all final runs together.
  double FinalLength() const;

  // How long the shortest probe measured that came to a value, in seconds;
  // infinite if none did.
  double ShortestSeconds() const;

  // The same probes, each with at least the error that it shares.
  ProbeHistory WithSharedErrors() const;

  // The highest load that clearly met; 0 if there is none.
  double HighestClearMeet() const;

  // The last refining probe within the tolerance of this load; null if there is
  // none.
  const Probe* LastRefined(double load, double tolerance) const;

  // Where the line through the measurements crosses the limit, in logarithms of
  // load and measurement; leaves out one of the probes, if it is given.
  //
  // The errors of the measurements are shared: they come from all of those near
  // the limit together, because a probe that happens to see no burst
  // underestimates both its measurement and the error of that, and would pull
  // the line towards itself.
  std::optional<Crossing> FitLine(const Probe* left_out = nullptr) const;

 private:
  std::vector<const Probe*> Counted() const;

  std::vector<Probe> probes_;
  std::set<size_t> overruled_;  // indices of probes_
};

// The confidence interval of a search's answer.

// Contains the highest load that meets the objectives, with 95 % confidence. A
// bound is absent where no probe gives one.
struct LoadInterval {
  std::optional<double> min;
  std::optional<double> max;
};

// Returns the loads around the crossing of the line through the probes, at 1.96
// standard errors or more on both sides (inverse regression: N. R. Draper and
// H. Smith, Applied Regression Analysis, 3rd ed., Wiley 1998, section 3.2). The
// errors of the probes include that requests depend on those before them.
//
// Loads that clearly met or missed bound the interval as well, because a system
// may have an edge that no line follows. Without a miss there is no upper
// bound.
LoadInterval FindInterval(const ProbeHistory& history);

// Whether the interval proves that the load meets the objectives.
bool IsProven(const LoadInterval& interval, double load);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_
