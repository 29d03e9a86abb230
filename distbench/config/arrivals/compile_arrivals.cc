// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/compile_arrivals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/arrivals/small_random.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/rules/field_rules.h"

namespace distbench::config {
namespace {

using Process = ArrivalSourcePlan::Process;

constexpr int kPiecesOfSine = 256;

// Beyond this number of pieces, it does not matter in which phase they are to
// those of other modulations.
constexpr double kManyPieces = 20'000;

ClientPhase PhaseOf(const std::string& name) {
  if (name == "random") return ClientPhase::kRandom;
  if (name == "spread") return ClientPhase::kSpread;
  return ClientPhase::kNone;
}

RateModulationPlan CompileSine(const SineRate& sine) {
  RateModulationPlan plan;
  const auto period_ns = static_cast<double>(sine.period_ns());
  const auto factor = [&](int knot) {
    return 1 + sine.amplitude() *
                   std::sin(2 * std::numbers::pi * knot / kPiecesOfSine);
  };
  for (int i = 0; i < kPiecesOfSine; ++i) {
    plan.pieces.push_back({.end_ns = period_ns * (i + 1) / kPiecesOfSine,
                           .from = std::max(0.0, factor(i)),
                           .to = std::max(0.0, factor(i + 1))});
  }
  plan.repeats = true;
  plan.shift_ns = sine.phase() * period_ns;
  return plan;
}

RateModulationPlan CompileOnOff(const OnOffRate& on_off) {
  RateModulationPlan plan;
  const auto on_ns = static_cast<double>(on_off.on_ns());
  const auto off_ns = static_cast<double>(on_off.off_ns());
  const double off_factor = on_off.off_factor();
  if (on_off.times() == "exponential") {
    plan.states = {{.factor = 1, .mean_ns = on_ns},
                   {.factor = off_factor, .mean_ns = off_ns}};
    return plan;
  }
  plan.pieces = {
      {.end_ns = on_ns, .from = 1, .to = 1},
      {.end_ns = on_ns + off_ns, .from = off_factor, .to = off_factor}};
  plan.repeats = true;
  return plan;
}

RateModulationPlan CompileSchedule(const RateSchedule& schedule) {
  RateModulationPlan plan;
  double end_ns = 0;
  for (const RateSegment& segment : schedule.segments()) {
    end_ns += static_cast<double>(segment.duration_ns());
    plan.pieces.push_back({.end_ns = end_ns,
                           .from = segment.factor(),
                           .to = segment.has_to_factor() ? segment.to_factor()
                                                         : segment.factor()});
  }
  plan.repeats = schedule.repeat();
  return plan;
}

RateModulationPlan CompileMarkov(const MarkovRate& markov) {
  RateModulationPlan plan;
  for (const RateState& state : markov.states()) {
    plan.states.push_back(
        {.factor = state.factor(),
         .mean_ns = static_cast<double>(state.mean_duration_ns())});
  }
  return plan;
}

RateModulationPlan CompileKind(const RateModulation& modulation) {
  switch (modulation.kind_case()) {
    case RateModulation::kSine:
      return CompileSine(modulation.sine());
    case RateModulation::kOnOff:
      return CompileOnOff(modulation.on_off());
    case RateModulation::kSchedule:
      return CompileSchedule(modulation.schedule());
    case RateModulation::kMarkov:
      return CompileMarkov(modulation.markov());
    case RateModulation::KIND_NOT_SET:
      break;
  }
  RateModulationPlan none;
  none.pieces.emplace_back();
  return none;
}

RateModulationPlan CompileModulation(const RateModulation& modulation) {
  RateModulationPlan plan = CompileKind(modulation);
  plan.phase = modulation.client_phase().empty() && !plan.states.empty()
                   ? ClientPhase::kRandom
                   : PhaseOf(modulation.client_phase());
  return plan;
}

std::vector<double> UnitGaps(const RecordedArrivals& recorded) {
  absl::StatusOr<std::vector<double>> gaps = ParseRecording(recorded.times());
  // Validation has parsed it, too.
  if (!gaps.ok()) return {1};
  double sum = 0;
  for (const double gap : *gaps) sum += gap;
  for (double& gap : *gaps) gap *= static_cast<double>(gaps->size()) / sum;
  return *std::move(gaps);
}

ArrivalSourcePlan CompileSource(const Arrivals& arrivals, double share) {
  ArrivalSourcePlan plan;
  plan.process =
      static_cast<Process>(WordNumber(arrivals, Arrivals::kProcessFieldNumber));
  if (plan.process == Process::kGamma) {
    const double variation = arrivals.coefficient_of_variation();
    plan.gamma_shape = 1 / (variation * variation);
  }
  if (plan.process == Process::kRecorded) {
    plan.gaps = UnitGaps(arrivals.recorded());
    plan.gaps_repeat = arrivals.recorded().repeat();
  }
  plan.kept_share = arrivals.kept_share();
  plan.share = share;
  plan.phase = PhaseOf(arrivals.client_phase());
  for (const RateModulation& modulation : arrivals.modulations()) {
    plan.modulations.push_back(CompileModulation(modulation));
  }
  return plan;
}

// ---- Mean rates -------------------------------------------------------------

double LongRunMean(const RateModulationPlan& plan) {
  double sum = 0;
  double weight = 0;
  for (const RateStatePlan& state : plan.states) {
    sum += state.factor * state.mean_ns;
    weight += state.mean_ns;
  }
  if (!plan.states.empty()) return sum / weight;
  if (!plan.repeats) return plan.pieces.back().to;
  for (const RatePiece& piece : plan.pieces) {
    const double width = piece.end_ns - weight;
    sum += width * (piece.from + piece.to) / 2;
    weight = piece.end_ns;
  }
  return sum / weight;
}

// Whether only the mean of the modulation matters over this time.
bool IsAveraged(const RateModulationPlan& plan, double duration_ns) {
  if (!plan.states.empty()) return true;
  return plan.repeats && duration_ns / plan.pieces.back().end_ns *
                                 static_cast<double>(plan.pieces.size()) >
                             kManyPieces;
}

// Of modulations that do not depend on chance or on the client.
double MeanOverTime(const std::vector<RateModulationPlan>& modulations,
                    double duration_ns) {
  if (modulations.empty()) return 1;
  RateCurve curve(modulations, /*seed=*/0, {});
  double area = 0;
  while (curve.end_ns() < duration_ns) {
    area += curve.AreaFrom(curve.start_ns());
    curve.Next();
  }
  const double left_ns = duration_ns - curve.start_ns();
  area += left_ns *
          (curve.FactorAt(curve.start_ns()) + curve.slope() * left_ns / 2);
  return area / duration_ns;
}

double MeanFactor(const ArrivalSourcePlan& source, double duration_ns) {
  double mean = 1;
  std::vector<RateModulationPlan> others;
  for (const RateModulationPlan& modulation : source.modulations) {
    if (duration_ns <= 0 || IsAveraged(modulation, duration_ns) ||
        modulation.phase != ClientPhase::kNone) {
      mean *= LongRunMean(modulation);
    } else {
      others.push_back(modulation);
    }
  }
  return mean * MeanOverTime(others, duration_ns);
}

// ---- Dispersion -------------------------------------------------------------

double SquaredVariation(const ArrivalSourcePlan& source) {
  switch (source.process) {
    case Process::kConstant:
      return 0;
    case Process::kExponential:
      return 1;
    case Process::kGamma:
      return 1 / source.gamma_shape;
    case Process::kRecorded:
      break;
  }
  double squares = 0;
  for (const double gap : source.gaps) squares += (gap - 1) * (gap - 1);
  return squares / static_cast<double>(source.gaps.size());
}

}  // namespace

ArrivalPlan CompileArrivals(const Arrivals& arrivals) {
  ArrivalPlan plan;
  if (arrivals.superposed().empty()) {
    plan.sources.push_back(CompileSource(arrivals, 1));
    return plan;
  }
  double sum = 0;
  for (const Arrivals& part : arrivals.superposed()) sum += part.share();
  for (const Arrivals& part : arrivals.superposed()) {
    plan.sources.push_back(CompileSource(part, part.share() / sum));
  }
  return plan;
}

double MeanRatePerSecond(const Iterations& iterations) {
  if (iterations.open_loop_interval_ns() <= 0) return 0;
  const double rate = static_cast<double>(base::kNsPerSecond) /
                      static_cast<double>(iterations.open_loop_interval_ns());
  if (!iterations.has_arrivals()) return rate;
  Problems problems;
  CheckArrivals(iterations.arrivals(), Path(), problems);
  if (problems.count() > 0) return rate;
  double factor = 0;
  for (const ArrivalSourcePlan& source :
       CompileArrivals(iterations.arrivals()).sources) {
    factor +=
        source.share *
        MeanFactor(source,
                   1e3 * static_cast<double>(iterations.max_duration_us()));
  }
  return rate * factor;
}

double WarmupNs(const Iterations& iterations) {
  const double per_second = MeanRatePerSecond(iterations);
  const double iterations_ns =
      per_second > 0 ? base::kNsPerSecond / per_second *
                           static_cast<double>(iterations.warmup_iterations())
                     : 0;
  return std::max(static_cast<double>(iterations.warmup_ns()), iterations_ns);
}

bool HasVaryingRate(const Arrivals& arrivals) {
  return !arrivals.modulations().empty() || arrivals.process() == "recorded" ||
         std::any_of(arrivals.superposed().begin(), arrivals.superposed().end(),
                     [](const Arrivals& part) {
                       return !part.modulations().empty() ||
                              part.process() == "recorded";
                     });
}

bool HasVaryingRate(const DistributedSystemDescription& test) {
  return std::any_of(test.actions().begin(), test.actions().end(),
                     [](const Action& action) {
                       return HasVaryingRate(action.iterations().arrivals());
                     });
}

double IndexOfDispersion(const ArrivalPlan& plan) {
  double dispersion = 0;
  for (const ArrivalSourcePlan& source : plan.sources) {
    dispersion +=
        source.share * (1 + source.kept_share * (SquaredVariation(source) - 1));
  }
  return dispersion;
}

uint64_t ArrivalSeed(uint64_t test_seed, int list, int action, int64_t run) {
  return CombinedSeed({test_seed, uint64_t(list), uint64_t(action),
                       static_cast<uint64_t>(run)});
}

}  // namespace distbench::config
