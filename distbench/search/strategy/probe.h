// A probe of a search: the system at one load, for a while.

#ifndef DISTBENCH_SEARCH_STRATEGY_PROBE_H_
#define DISTBENCH_SEARCH_STRATEGY_PROBE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

enum class ProbePhase { kWarmup, kBracket, kRecovery, kRefine, kFinal };
absl::string_view ToString(ProbePhase phase);

// The phase of that name; absent if there is none.
std::optional<ProbePhase> ParseProbePhase(absl::string_view name);

struct ProbeRequest {
  ProbePhase phase = ProbePhase::kWarmup;
  double load = 0;

  // How long to measure, in the caller's unit of a probe's length. Final runs
  // have a length of their own, whatever this is.
  double length = 1;
};

// What came of it.
struct Probe {
  ProbeRequest request;

  // What was really sent, in the unit of the load.
  double achieved_load = 0;

  // Logarithm of measured / limit of the objective that was furthest from being
  // met, and its standard error; negative: met. Infinite where a miss is so
  // clear that it was not measured.
  double excess = 0;
  double excess_error = 0;

  // The load could not be generated, so the probe says nothing of the system.
  bool generator_limited = false;
};

// Both are false where the load could not be generated.
bool Met(const Probe& probe);
bool Missed(const Probe& probe);

// By more than noise explains: several standard errors.
bool ClearlyMet(const Probe& probe);
bool ClearlyMissed(const Probe& probe);
double ClearDistance(const Probe& probe);

// For people: "500 missed the objective (1.2 of its limit)".
std::string Describe(const Probe& probe);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_STRATEGY_PROBE_H_
