#include "distbench/search/load_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "distbench/search/crossing.h"

namespace distbench {
namespace {

// Factor between loads while there is no bracket.
constexpr double kBracketStep = 2;

// A bracket that is wider is halved; in a narrower one a line is fitted.
constexpr double kWideBracket = 1.5;

// A probe contradicts another one if both are off the limit by this many
// standard errors, in the wrong directions.
constexpr double kClearlyOff = 3;

// How long a miss that is in doubt is measured again.
constexpr double kConfirmingLength = 2;

// Of what the line explains.
constexpr double kTooGood = 2;

// Between what clearly met and what clearly missed there is no edge if they are
// that many tolerances apart.
constexpr double kEdgeWidth = 3;

// Attempts to see the system recovered.
constexpr int kMaxRecoveryAttempts = 2;

// How probes that come nearer to the limit grow, and to what.
constexpr double kLengthStep = 2;
constexpr double kMaxLength = 8;

bool Met(const Probe& probe) {
  return !probe.generator_limited && probe.excess <= 0;
}

bool Missed(const Probe& probe) {
  return !probe.generator_limited && probe.excess > 0;
}

bool ClearlyMet(const Probe& probe) {
  return Met(probe) && probe.excess < -kClearlyOff * probe.excess_error;
}

bool ClearlyMissed(const Probe& probe) {
  return Missed(probe) && probe.excess > kClearlyOff * probe.excess_error;
}

std::string Describe(const Probe& probe) {
  if (probe.generator_limited) {
    return absl::StrFormat("only %.6g of %.6g could be generated",
                           probe.achieved_load, probe.request.load);
  }
  return absl::StrFormat(
      "%.6g %s the objective (%.3g of its limit)", probe.request.load,
      probe.excess <= 0 ? "met" : "missed", std::exp(probe.excess));
}

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

LoadSearch::LoadSearch(SearchOptions options) : options_(std::move(options)) {
  Ask(ProbePhase::kWarmup,
      std::clamp(options_.initial_load, options_.min_load, options_.max_load),
      1);
}

void LoadSearch::Add(const Probe& probe) {
  probes_.push_back(probe);
  next_.reset();
  switch (probe.request.phase) {
    case ProbePhase::kWarmup:
      // Not judged: what was cold is warm from here on.
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
  SetBounds();
  const double load = probe.request.load;
  if (!missed_) {
    if (load >= options_.max_load) return FinishAtMaximum();
    return Ask(ProbePhase::kBracket,
               std::min(load * kBracketStep, options_.max_load), 1);
  }
  if (!met_) {
    if (load <= options_.min_load) return FinishBelowMinimum();
    return Ask(ProbePhase::kBracket,
               std::max(load / kBracketStep, options_.min_load), 1);
  }
  Ask(ProbePhase::kRecovery, *met_, 1);
}

void LoadSearch::AfterRecovery(const Probe& probe) {
  if (ClearlyMissed(probe)) {
    if (++recovery_attempts_ < kMaxRecoveryAttempts) {
      return Ask(ProbePhase::kRecovery, *met_, 1);
    }
    return Finish(
        SearchVerdict::kUnstable, std::nullopt,
        absl::StrFormat("%.6g met the objective before the system was "
                        "overloaded and not any more after it: %s",
                        *met_, Describe(probe)));
  }
  Refine();
}

void LoadSearch::AfterRefine(const Probe& probe) {
  if (doubted_load_) return AfterConfirmation(probe);
  const Probe* miss = LowestMiss(&ClearlyMissed);
  if (miss != nullptr && IsDoubtful(*miss)) {
    if (confirmed_loads_.contains(miss->request.load)) {
      return FinishUnstable(*miss);
    }
    return Confirm(*miss);
  }
  SetBounds();
  Refine();
}

void LoadSearch::Confirm(const Probe& miss) {
  doubted_load_ = miss.request.load;
  Ask(ProbePhase::kRefine, *doubted_load_, kConfirmingLength);
}

void LoadSearch::AfterConfirmation(const Probe& probe) {
  const double load = *doubted_load_;
  doubted_load_.reset();
  if (met_final_ && !ClearlyMet(probe)) return FinishConfirmed(*met_final_);
  met_final_.reset();
  if (ClearlyMissed(probe)) {
    if (IsBelowAMeet(probe)) return FinishUnstable(probe);
    confirmed_loads_.insert(load);
    SetBounds();
    return Refine();
  }
  for (size_t i = 0; i + 1 < probes_.size(); ++i) {
    const bool is_doubted = probes_[i].request.load == load;
    if (is_doubted && Missed(probes_[i])) overruled_.insert(i);
  }
  SetBounds();
  if (!missed_) {
    // Nothing is left of the upper end of the bracket.
    return Ask(ProbePhase::kBracket,
               std::min(*met_ * kBracketStep, options_.max_load), 1);
  }
  Refine();
}

void LoadSearch::AfterFinal(const Probe& probe) {
  if (Met(probe)) {
    // Unless other final runs have missed as well.
    const Probe* miss = LowestMiss(&Missed);
    const bool is_doubtful = steps_down_ == 0 && miss != nullptr &&
                             IsDoubtful(*miss) && IsTooGood(probe, *miss);
    if (!is_doubtful) return FinishConfirmed(probe);
    met_final_ = probe;
    return Confirm(*miss);
  }
  if (steps_down_ == options_.max_steps_down) {
    return Finish(SearchVerdict::kUnstable, std::nullopt,
                  absl::StrFormat("%d final runs, each lower than the one "
                                  "before, missed; the last one: %s",
                                  steps_down_ + 1, Describe(probe)));
  }
  ++steps_down_;
  StepDown(probe.request.load);
}

// It met by far more than its distance from what missed explains.
bool LoadSearch::IsTooGood(const Probe& final, const Probe& miss) const {
  const std::optional<Crossing> crossing = FindCrossing(Measurements());
  if (!crossing) return false;
  const double distance = std::log(miss.request.load / final.request.load);
  return -final.excess > kClearlyOff * final.excess_error +
                             kTooGood * crossing->slope * distance;
}

// To where the line, which knows of the final run that missed, crosses the limit
// now, but by no less than half of the tolerance and no more than twice of it.
void LoadSearch::StepDown(double load) {
  const double highest = load * (1 - options_.tolerance / 2);
  const std::optional<Crossing> crossing = FindCrossing(Measurements());
  const double below =
      crossing ? std::clamp(Below(*crossing),
                            load * (1 - 2 * options_.tolerance), highest)
               : highest;
  const double next = options_.is_whole ? std::min(std::floor(below), load - 1)
                                        : below;
  if (next < options_.min_load) return FinishBelowMinimum();
  Ask(ProbePhase::kFinal, next, 1);
}

std::vector<const Probe*> LoadSearch::Counted() const {
  std::vector<const Probe*> counted;
  for (size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].request.phase == ProbePhase::kWarmup) continue;
    if (!overruled_.contains(i)) counted.push_back(&probes_[i]);
  }
  return counted;
}

// Of those that `is_miss` says are; null if there is none.
const Probe* LoadSearch::LowestMiss(bool (*is_miss)(const Probe&)) const {
  const Probe* miss = nullptr;
  for (const Probe* probe : Counted()) {
    if (!is_miss(*probe)) continue;
    if (miss == nullptr || probe->request.load < miss->request.load) {
      miss = probe;
    }
  }
  return miss;
}

// 0 if there is none.
double LoadSearch::HighestClearMeet() const {
  double highest = 0;
  for (const Probe* probe : Counted()) {
    if (ClearlyMet(*probe)) highest = std::max(highest, probe->request.load);
  }
  return highest;
}

bool LoadSearch::IsBelowAMeet(const Probe& miss) const {
  return miss.request.load < HighestClearMeet() * (1 - options_.tolerance);
}

// An edge that was confirmed is believed.
bool LoadSearch::IsDoubtful(const Probe& miss) const {
  const double load = miss.request.load;
  if (confirmed_loads_.contains(load)) return IsBelowAMeet(miss);
  return load < HighestClearMeet() * (1 + kEdgeWidth * options_.tolerance);
}

// Near the limit noise may put what met above what missed; refining copes with
// it, as it looks at measurements and not at bounds.
void LoadSearch::SetBounds() {
  met_.reset();
  missed_.reset();
  for (const Probe* probe : Counted()) {
    if (probe->request.phase == ProbePhase::kRecovery) continue;
    const double load = probe->request.load;
    if (Met(*probe)) {
      met_ = std::max(met_.value_or(load), load);
    } else if (!missed_ || load < *missed_) {
      missed_ = load;
      generator_is_bound_ = probe->generator_limited;
    }
  }
}

void LoadSearch::Refine() {
  const double width = *missed_ / *met_;
  if (AreNeighbours(*met_, *missed_)) {
    return Ask(ProbePhase::kFinal, std::min(*met_, *missed_ - 1), 1);
  }
  if (width > kWideBracket) return Bisect(*met_, *missed_);
  const std::optional<Crossing> crossing =
      generator_is_bound_ ? std::nullopt : FindCrossing(Measurements());
  if (!crossing) {
    if (width <= 1 + options_.tolerance) {
      return Ask(ProbePhase::kFinal, std::min(*met_, *missed_), 1);
    }
    return Bisect(*met_, *missed_);
  }
  Approach(*crossing);
}

std::vector<Measurement> LoadSearch::Measurements() const {
  std::vector<Measurement> measurements;
  for (const Probe* probe : Counted()) {
    if (probe->generator_limited) continue;
    // What was really sent explains a measurement better than what was asked
    // for: random arrivals differ from probe to probe.
    const double load = probe->achieved_load > 0 ? probe->achieved_load
                                                 : probe->request.load;
    measurements.push_back({.x = std::log(load),
                            .y = probe->excess,
                            .error = probe->excess_error});
  }
  return measurements;
}

// Goes to where the line crosses the limit, until a measurement there agrees.
void LoadSearch::Approach(const Crossing& crossing) {
  // Somewhat outside the bracket too, or a contradiction would stay unseen.
  const double slack = 1 + 2 * options_.tolerance;
  const double load =
      Rounded(std::clamp(std::exp(crossing.x),
                         std::min(*met_, *missed_) / slack,
                         std::max(*met_, *missed_) * slack));
  const Probe* nearest = NearestRefineProbe(load);
  if (nearest == nullptr) return Ask(ProbePhase::kRefine, load, 1);

  const double expected_at_most = std::max(kClearlyOff * nearest->excess_error,
                                           options_.tolerance * crossing.slope);
  if (std::abs(nearest->excess) > expected_at_most && !IsNarrow()) {
    // The truth bends away from the line.
    return nearest->excess < 0 ? Bisect(nearest->request.load, *missed_)
                               : Bisect(*met_, nearest->request.load);
  }
  if (crossing.error < options_.tolerance / 2 ||
      refine_length_ >= kMaxLength) {
    return AskFinal(std::min(Below(crossing), load));
  }
  refine_length_ = std::min(refine_length_ * kLengthStep, kMaxLength);
  Ask(ProbePhase::kRefine, load, refine_length_);
}

// The last one that counts as at this load; null if there is none.
const Probe* LoadSearch::NearestRefineProbe(double load) const {
  const auto is_near = [&](const Probe& probe) {
    return probe.request.phase == ProbePhase::kRefine &&
           std::abs(std::log(probe.request.load / load)) < options_.tolerance;
  };
  const auto found = std::find_if(probes_.rbegin(), probes_.rend(), is_near);
  return found == probes_.rend() ? nullptr : &*found;
}

void LoadSearch::Bisect(double low, double high) {
  Ask(ProbePhase::kRefine, std::sqrt(low * high), 1);
}

// A little below where the objectives are just met: as far as that is uncertain.
double LoadSearch::Below(const Crossing& crossing) const {
  const double margin = std::clamp(crossing.error, options_.tolerance / 2,
                                   options_.tolerance);
  return std::exp(crossing.x) * (1 - margin);
}

void LoadSearch::AskFinal(double load) {
  Ask(ProbePhase::kFinal,
      options_.is_whole ? std::max(std::floor(load), options_.min_load) : load,
      1);
}

double LoadSearch::Rounded(double load) const {
  return options_.is_whole ? std::round(load) : load;
}

// Halving the bracket again would not make the answer more exact. Noise may have
// put what met above what missed.
bool LoadSearch::IsNarrow() const {
  return std::log(*missed_ / *met_) < options_.tolerance;
}

// Noise may have put `met` at or above `missed`.
bool LoadSearch::AreNeighbours(double met, double missed) const {
  return options_.is_whole && std::abs(missed - met) <= 1;
}

void LoadSearch::Ask(ProbePhase phase, double load, double length) {
  if (static_cast<int>(probes_.size()) >= options_.max_probes) {
    return Finish(
        SearchVerdict::kBudgetExhausted, met_,
        absl::StrFormat("%d probes were not enough", options_.max_probes));
  }
  next_ = ProbeRequest{.phase = phase, .load = Rounded(load), .length = length};
}

void LoadSearch::Finish(SearchVerdict verdict, std::optional<double> load,
                        std::string evidence) {
  next_.reset();
  result_ = {.verdict = verdict, .load = load, .evidence = std::move(evidence)};
}

void LoadSearch::FinishConfirmed(const Probe& final) {
  Finish(generator_is_bound_ ? SearchVerdict::kGeneratorLimited
                             : SearchVerdict::kConverged,
         final.request.load,
         absl::StrFormat("final run: %s", Describe(final)));
}

void LoadSearch::FinishUnstable(const Probe& miss) {
  Finish(SearchVerdict::kUnstable, std::nullopt,
         absl::StrFormat("%.6g met the objective, but measured twice, %s",
                         HighestClearMeet(), Describe(miss)));
}

void LoadSearch::FinishAtMaximum() {
  Finish(SearchVerdict::kUpperBoundHit, options_.max_load,
         absl::StrFormat("even the highest load allowed, %.6g, met",
                         options_.max_load));
}

void LoadSearch::FinishBelowMinimum() {
  const Probe& last = probes_.back();
  Finish(last.generator_limited ? SearchVerdict::kGeneratorLimited
                                : SearchVerdict::kObjectiveUnreachable,
         std::nullopt,
         absl::StrFormat("not even the lowest load allowed met: %s",
                         Describe(last)));
}

}  // namespace distbench
