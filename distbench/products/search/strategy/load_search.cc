// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/load_search.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/search/strategy/probe_history.h"

namespace distbench::search {
namespace {

// Factor between loads while there is no bracket.
constexpr double kBracketStep = 2;

// A wider bracket is halved; in a narrower one a line is fitted.
constexpr double kWideBracket = 1.5;

// Relative length of the second measurement of a doubtful miss.
constexpr double kConfirmingLength = 2;

// A final run that met by more than this multiple of what the line predicts is
// inconsistent with a nearby load that missed.
constexpr double kTooGood = 2;

// If a clear meet and a clear miss are this many tolerances apart, there is no
// sharp edge between them.
constexpr double kEdgeWidth = 3;

// Number of attempts to see the system recover.
constexpr int kMaxRecoveryAttempts = 2;

// How probes get longer as they approach the limit, and the maximum.
constexpr double kLengthStep = 2;
constexpr double kMaxLength = 8;

// The length of all final runs together from which on none is repeated.
constexpr double kMaxFinalLength = 8;

// A queue at utilisation u forgets within about 4 / (rate (1 - u)^2), the
// relaxation time of M/M/1 (J. W. Cohen, The Single Server Queue, 1982). The
// errors of a probe say little unless it lasts for many of these.
constexpr double kRelaxation = 4;
constexpr double kMemoriesNeeded = 20;

}  // namespace

absl::string_view ToString(SearchVerdict verdict) {
  switch (verdict) {
    case SearchVerdict::kConverged:
      return "converged";
    case SearchVerdict::kObjectiveUnreachable:
      return "objective_unreachable";
    case SearchVerdict::kGeneratorLimited:
      return "generator_limited";
    case SearchVerdict::kUpperBoundHit:
      return "upper_bound_hit";
    case SearchVerdict::kUnstable:
      return "unstable";
    case SearchVerdict::kBudgetExhausted:
      return "budget_exhausted";
  }
  return "";
}

LoadSearch::LoadSearch(SearchOptions options)
    : options_(std::move(options)),
      scale_(options_.min_load, options_.max_load, options_.is_whole,
             options_.finds_lowest) {
  Ask(ProbePhase::kWarmup, scale_.HardnessOf(options_.initial_load), 1);
}

std::optional<double> LoadSearch::LoadOf(
    const std::optional<double>& hardness) const {
  if (!hardness) return std::nullopt;
  return scale_.LoadOf(*hardness);
}

void LoadSearch::Add(const Probe& outcome) {
  Probe probe = scale_.ToHardness(outcome);
  // Where a load has met, harder ones are not too low, whatever noise says.
  if (bounds_.met) probe.is_too_low = false;
  history_.Add(probe);
  bounds_ = history_.FindBounds();
  next_.reset();
  switch (probe.request.phase) {
    case ProbePhase::kWarmup:
      // Warm-ups are not judged.
      Ask(ProbePhase::kBracket, probe.request.load, 1);
      break;
    case ProbePhase::kBracket:
      AfterBracket(probe);
      break;
    case ProbePhase::kRecovery:
      AfterRecovery(probe);
      break;
    case ProbePhase::kRefine:
      AfterRefine(probe);
      break;
    case ProbePhase::kFinal:
      AfterFinal(probe);
      break;
  }
}

void LoadSearch::AfterBracket(const Probe& probe) {
  const double load = probe.request.load;
  if (probe.is_too_low) too_low_ = std::max(too_low_.value_or(load), load);
  if (too_low_ && bounds_.missed && !bounds_.met) return AskAboveTooLow();
  if (!bounds_.missed) {
    if (load >= scale_.hardest()) {
      return probe.is_too_low ? FinishTooLow() : FinishAtHardest();
    }
    return Ask(ProbePhase::kBracket, load * kBracketStep, 1);
  }
  if (!bounds_.met) {
    if (load <= scale_.easiest()) return FinishBelowEasiest();
    return Ask(ProbePhase::kBracket, load / kBracketStep, 1);
  }
  Ask(ProbePhase::kRecovery, *bounds_.met, 1);
}

// Loads up to one are too low for an objective, and some above it missed.
void LoadSearch::AskAboveTooLow() {
  const double low = *too_low_;
  const double high = *bounds_.missed;
  if (high <= low * (1 + options_.tolerance) ||
      scale_.AreNeighbours(low, high)) {
    return FinishTooLow();
  }
  Ask(ProbePhase::kBracket, std::sqrt(low * high), 1);
}

void LoadSearch::AfterRecovery(const Probe& probe) {
  if (ClearlyMissed(probe)) {
    if (++recovery_attempts_ < kMaxRecoveryAttempts) {
      return Ask(ProbePhase::kRecovery, *bounds_.met, 1);
    }
    return Finish(
        SearchVerdict::kUnstable, std::nullopt,
        absl::StrFormat("%.6g met the objective before the system was "
                        "overloaded and not any more after it: %s",
                        *met(), DescribeLoads(probe)));
  }
  Refine();
}

void LoadSearch::AfterRefine(const Probe& probe) {
  if (doubted_load_) return AfterConfirmation(probe);
  const Probe* miss = history_.LowestMiss(&ClearlyMissed);
  if (miss != nullptr && IsDoubtful(*miss)) {
    if (confirmed_loads_.contains(miss->request.load)) {
      return FinishUnstable(*miss);
    }
    return Confirm(*miss);
  }
  Refine();
}

void LoadSearch::Confirm(const Probe& miss) {
  doubted_load_ = miss.request.load;
  Ask(ProbePhase::kRefine, *doubted_load_, kConfirmingLength);
}

void LoadSearch::AfterConfirmation(const Probe& probe) {
  const double load = *doubted_load_;
  doubted_load_.reset();
  if (met_final_ && !ClearlyMet(probe)) return RepeatFinal();
  met_final_.reset();
  if (ClearlyMissed(probe)) {
    if (IsBelowAMeet(probe)) return FinishUnstable(probe);
    confirmed_loads_.insert(load);
    return Refine();
  }
  history_.OverruleMisses(load);
  bounds_ = history_.FindBounds();
  if (!bounds_.missed) {
    // Nothing is left of the upper end of the bracket.
    return Ask(ProbePhase::kBracket, *bounds_.met * kBracketStep, 1);
  }
  Refine();
}

void LoadSearch::AfterFinal(const Probe& probe) {
  const Probe final_runs =
      history_.FinalRunsAt(probe.request.load).value_or(probe);
  met_final_.reset();
  if (Met(final_runs)) return AfterMetFinal(final_runs);
  if (steps_down_ == options_.max_steps_down) {
    return Finish(SearchVerdict::kUnstable, std::nullopt,
                  absl::StrFormat("%d final runs, each lower than the one "
                                  "before, missed; the last one: %s",
                                  steps_down_ + 1, DescribeLoads(final_runs)));
  }
  ++steps_down_;
  StepDown(probe.request.load);
}

void LoadSearch::AfterMetFinal(const Probe& final_runs) {
  const double length = history_.FinalLength();
  met_final_ = final_runs;
  // A first run that is too good casts doubt on a nearby miss.
  const Probe* miss = history_.LowestMiss(&Missed);
  const bool is_doubtful = length == 1 && miss != nullptr &&
                           IsDoubtful(*miss) && IsTooGood(final_runs, *miss);
  if (is_doubtful) return Confirm(*miss);
  RepeatFinal();
}

// Runs the final load again, unless it is proven or was measured for long
// enough.
void LoadSearch::RepeatFinal() {
  const double load = met_final_->request.load;
  const double length = history_.FinalLength();
  if (IsProven(FindInterval(history_), load) || length >= kMaxFinalLength) {
    return FinishConfirmed(*met_final_);
  }
  Ask(ProbePhase::kFinal, load, length);
}

// Whether the final run met by far more than its distance from the miss
// explains.
bool LoadSearch::IsTooGood(const Probe& final_run, const Probe& miss) const {
  // The miss itself would make the line as steep as it needs.
  const std::optional<Crossing> crossing = history_.FitLine(&miss);
  if (!crossing) return ClearlyMet(final_run);
  const double distance = std::log(miss.request.load / final_run.request.load);
  return -final_run.excess >
         ClearDistance(final_run) + kTooGood * crossing->slope * distance;
}

// Steps down to where the line, which now includes the missed final run,
// crosses the limit: by at least half of the tolerance, and at most twice the
// tolerance.
void LoadSearch::StepDown(double load) {
  if (load <= scale_.easiest()) return FinishBelowEasiest();
  const double highest = load * (1 - options_.tolerance / 2);
  const std::optional<Crossing> crossing = history_.FitLine();
  const double below =
      crossing ? std::clamp(Below(*crossing),
                            load * (1 - 2 * options_.tolerance), highest)
               : highest;
  const double next = scale_.is_whole() ? std::min(scale_.NotHarder(below),
                                                   scale_.NextEasier(load))
                                        : below;
  Ask(ProbePhase::kFinal, next, probes().back().request.length);
}

bool LoadSearch::IsBelowAMeet(const Probe& miss) const {
  return miss.request.load <
         history_.HighestClearMeet() * (1 - options_.tolerance);
}

// A confirmed edge is not doubted.
bool LoadSearch::IsDoubtful(const Probe& miss) const {
  const double load = miss.request.load;
  if (confirmed_loads_.contains(load)) return IsBelowAMeet(miss);
  const double edge = 1 + kEdgeWidth * options_.tolerance;
  return load < history_.HighestClearMeet() * edge;
}

void LoadSearch::Refine() {
  const double met = *bounds_.met;
  const double missed = *bounds_.missed;
  const double width = missed / met;
  // Noise may have put `met` at or above `missed`.
  if (scale_.AreNeighbours(met, missed)) {
    return Ask(ProbePhase::kFinal, std::min(met, scale_.NextEasier(missed)), 1);
  }
  if (width > kWideBracket) return Bisect(met, missed);
  const std::optional<Crossing> crossing =
      bounds_.generator_is_bound ? std::nullopt : history_.FitLine();
  if (!crossing) {
    if (width <= 1 + options_.tolerance) {
      return Ask(ProbePhase::kFinal, std::min(met, missed), 1);
    }
    return Bisect(met, missed);
  }
  Approach(*crossing);
}

// Goes to where the line crosses the limit, until a measurement there agrees.
void LoadSearch::Approach(const Crossing& crossing) {
  // The range extends slightly beyond the bracket, so that contradictions show.
  const double slack = 1 + 2 * options_.tolerance;
  const double load = scale_.Allowed(std::clamp(
      std::exp(crossing.x), std::min(*bounds_.met, *bounds_.missed) / slack,
      std::max(*bounds_.met, *bounds_.missed) * slack));
  const Probe* nearest = history_.LastRefined(load, options_.tolerance);
  if (nearest == nullptr) return Ask(ProbePhase::kRefine, load, 1);

  const double expected_at_most =
      std::max(ClearDistance(*nearest), options_.tolerance * crossing.slope);
  if (std::abs(nearest->excess) > expected_at_most && !IsNarrow()) {
    // The true curve deviates from the line.
    return nearest->excess < 0 ? Bisect(nearest->request.load, *bounds_.missed)
                               : Bisect(*bounds_.met, nearest->request.load);
  }
  if (crossing.error < options_.tolerance / 2 || refine_length_ >= kMaxLength) {
    // What clearly met needs no margin. The line may cross too low if the curve
    // has a bend.
    const double met = history_.WithSharedErrors().HighestClearMeet();
    return AskFinal(std::min(std::max(Below(crossing), met), load));
  }
  refine_length_ = std::min(refine_length_ * kLengthStep, kMaxLength);
  Ask(ProbePhase::kRefine, load, refine_length_);
}

void LoadSearch::Bisect(double low, double high) {
  Ask(ProbePhase::kRefine, std::sqrt(low * high), 1);
}

// A load slightly below the one that just meets the objectives, so that a final
// run can prove it. The margin is half the width of the crossing's confidence
// interval, from half of the tolerance to the tolerance.
double LoadSearch::Below(const Crossing& crossing) const {
  const double margin = std::clamp(crossing.half_width, options_.tolerance / 2,
                                   options_.tolerance);
  return std::exp(crossing.x) * (1 - margin);
}

void LoadSearch::AskFinal(double load) {
  Ask(ProbePhase::kFinal, scale_.NotHarder(load), 1);
}

// Whether halving the bracket again would not improve the accuracy. Noise may
// have put `met` above `missed`.
bool LoadSearch::IsNarrow() const {
  return std::log(*bounds_.missed / *bounds_.met) < options_.tolerance;
}

std::string LoadSearch::DescribeLoads(const Probe& probe) const {
  return Describe(scale_.ToLoads(probe));
}

void LoadSearch::Ask(ProbePhase phase, double load, double length) {
  if (static_cast<int>(probes().size()) >= options_.max_probes) {
    return EndEarly(
        absl::StrFormat("%d probes were not enough", options_.max_probes));
  }
  next_ = ProbeRequest{.phase = phase,
                       .load = scale_.LoadOf(scale_.Allowed(load)),
                       .length = length};
}

void LoadSearch::EndEarly(std::string reason) {
  if (met_final_) return FinishConfirmed(*met_final_);
  Finish(SearchVerdict::kBudgetExhausted, bounds_.met, std::move(reason));
}

// How long probes near this load have to last for the queue to forget often
// enough; 0 if that is unknown. Latencies rise with 1 / (1 - u), so the slope
// of their logarithm tells u: it is u / (1 - u) or, if part of the latency is
// no wait, less.
double LoadSearch::SecondsNeeded(double load) const {
  const std::optional<Crossing> crossing = history_.FitLine();
  if (options_.queue_rate == 0 || !crossing) return 0;
  const double wait = 1 + crossing->slope;  // 1 / (1 - u)
  return kMemoriesNeeded * kRelaxation * wait * wait /
         (options_.queue_rate * load);
}

bool LoadSearch::IsNearSaturation(double load) const {
  return history_.ShortestSeconds() < SecondsNeeded(load);
}

void LoadSearch::Finish(SearchVerdict verdict, std::optional<double> load,
                        std::string evidence) {
  next_.reset();
  result_ = {.verdict = verdict,
             .load = LoadOf(load),
             .evidence = std::move(evidence)};
  if (load) {
    const LoadInterval around =
        AroundAnswer(FindInterval(history_), *load, scale_);
    result_.interval = scale_.ToLoads(around);
    // What no final run confirmed is not proven.
    const std::optional<Probe> final_runs = history_.FinalRunsAt(*load);
    result_.is_proven = IsProven(around, *load) && final_runs &&
                        Met(*final_runs) && !IsNearSaturation(*load);
  }
}

// Why the answer is no harder although single probes beyond it met, and why its
// interval goes on beyond loads that missed. A line through the probes would
// bound the interval near those.
std::string LoadSearch::DescribeBeyond(double load) const {
  const bool has_line = history_.FitLine().has_value();
  std::vector<std::string> late;
  std::vector<std::string> unclear;
  for (const Probe& probe : history_.WithSharedErrors().JudgedLoads()) {
    if (probe.request.load <= load) continue;
    const std::string text =
        absl::StrFormat("%.6g", scale_.LoadOf(probe.request.load));
    if (probe.generator_limited) {
      late.push_back(text);
    } else if (!has_line && Missed(probe) && !ClearlyMissed(probe)) {
      unclear.push_back(text);
    }
  }
  std::string beyond;
  if (!late.empty()) {
    absl::StrAppend(&beyond, "; not generated, or not in time: ",
                    absl::StrJoin(late, ", "));
  }
  if (!unclear.empty()) {
    absl::StrAppend(&beyond,
                    "; missed by less than three standard errors, too little "
                    "to bound the interval: ",
                    absl::StrJoin(unclear, ", "));
  }
  return beyond;
}

void LoadSearch::FinishConfirmed(const Probe& final_runs) {
  const double load = final_runs.request.load;
  std::string proof = IsProven(FindInterval(history_), load)
                          ? "proven at 95 %"
                          : "met, not proven at 95 %";
  if (IsNearSaturation(load)) {
    proof = absl::StrFormat(
        "met, not proven, because it is near saturation, where queues remember "
        "for so long that all probes would have to last for %.0f s",
        std::ceil(SecondsNeeded(load)));
  }
  Finish(bounds_.generator_is_bound ? SearchVerdict::kGeneratorLimited
                                    : SearchVerdict::kConverged,
         load,
         absl::StrCat(proof, ": ", DescribeLoads(final_runs),
                      DescribeBeyond(load)));
}

void LoadSearch::FinishUnstable(const Probe& miss) {
  Finish(SearchVerdict::kUnstable, std::nullopt,
         absl::StrFormat("%.6g met the objective, but measured twice, %s",
                         scale_.LoadOf(history_.HighestClearMeet()),
                         DescribeLoads(miss)));
}

void LoadSearch::FinishAtHardest() {
  Finish(SearchVerdict::kUpperBoundHit, scale_.hardest(),
         absl::StrFormat("even the %s load allowed, %.6g, met",
                         scale_.finds_lowest() ? "lowest" : "highest",
                         scale_.LoadOf(scale_.hardest())));
}

void LoadSearch::FinishTooLow() {
  std::string evidence = absl::StrFormat(
      "%.6g is less than an objective asks for", scale_.LoadOf(*too_low_));
  if (const Probe* miss = history_.LowestMiss(&Missed)) {
    absl::StrAppend(&evidence, ", and ", DescribeLoads(*miss));
  } else {
    absl::StrAppend(&evidence, ", and is the highest load allowed");
  }
  Finish(SearchVerdict::kObjectiveUnreachable, std::nullopt,
         std::move(evidence));
}

void LoadSearch::FinishBelowEasiest() {
  const Probe& last = probes().back();
  Finish(last.generator_limited ? SearchVerdict::kGeneratorLimited
                                : SearchVerdict::kObjectiveUnreachable,
         std::nullopt,
         absl::StrFormat("not even the %s load allowed met: %s",
                         scale_.finds_lowest() ? "highest" : "lowest",
                         DescribeLoads(last)));
}

}  // namespace distbench::search
