// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A compiled Arrivals message: what a stream of arrivals is drawn from.

#ifndef DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_PLAN_H_
#define DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_PLAN_H_

#include <vector>

namespace distbench::config {

// Where a client starts in something that all clients of its service have.
enum class ClientPhase {
  kNone,    // at the same place as the others
  kRandom,  // anywhere
  kSpread,  // at its number's share of one round
};

// A factor of the rate that is linear over time: from `from` at the end of the
// piece before it (or 0) to `to` at end_ns. end_ns counts from the beginning of
// the first piece.
struct RatePiece {
  double end_ns = 0;
  double from = 1;
  double to = 1;
};

struct RateStatePlan {
  double factor = 1;
  double mean_ns = 0;
};

// Exactly one of `pieces` and `states` is not empty.
struct RateModulationPlan {
  std::vector<RatePiece> pieces;
  bool repeats = false;  // the pieces; otherwise the last factor stays
  double shift_ns = 0;   // where in the pieces it begins, if they repeat

  // A Markov chain: an exponential time in a state, then any other state.
  std::vector<RateStatePlan> states;

  // For states, kNone: all clients are in the same state; kRandom: each is by
  // itself.
  ClientPhase phase = ClientPhase::kNone;
};

struct ArrivalSourcePlan {
  enum class Process { kConstant, kExponential, kGamma, kRecorded };

  Process process = Process::kExponential;
  double gamma_shape = 1;    // 1 / the squared coefficient of variation
  std::vector<double> gaps;  // of a recording; their mean is 1
  bool gaps_repeat = true;   // otherwise nothing arrives after the last
  double kept_share = 1;
  double share = 1;  // of the rate of all sources
  ClientPhase phase = ClientPhase::kNone;
  std::vector<RateModulationPlan> modulations;
};

// Superposed sources, at least one, whose shares sum to 1.
struct ArrivalPlan {
  std::vector<ArrivalSourcePlan> sources;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_ARRIVAL_PLAN_H_
