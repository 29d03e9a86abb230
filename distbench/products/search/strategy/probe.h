// A probe of a search: a run of the system at one load.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench::search {

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
};

// Both are false if the load could not be generated.
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

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_H_
