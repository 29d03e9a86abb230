#include "distbench/products/search/strategy/probe.h"

#include <cmath>

#include "absl/strings/str_format.h"

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
  return !probe.generator_limited && probe.excess <= 0;
}

bool Missed(const Probe& probe) {
  return !probe.generator_limited && probe.excess > 0;
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
    return absl::StrFormat("only %.6g of %.6g could be generated",
                           probe.achieved_load, probe.request.load);
  }
  const std::string evidence =
      std::isinf(probe.excess)
          ? "no steady value near its limit"
          : absl::StrFormat("%.3g of its limit", std::exp(probe.excess));
  return absl::StrFormat("%.6g %s the objective (%s)", probe.request.load,
                         probe.excess <= 0 ? "met" : "missed", evidence);
}

}  // namespace distbench::search
