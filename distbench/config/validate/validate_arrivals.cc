#include <algorithm>
#include <cmath>
#include <cstdint>

#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/arrivals/recording.h"
#include "distbench/config/validate/arrivals.h"
#include "distbench/config/validate/quantities.h"

namespace distbench::config {
namespace {

void ReplaceTimes(RateModulation& modulation) {
  if (modulation.has_sine()) ReplaceQuantities(*modulation.mutable_sine());
  if (modulation.has_on_off()) ReplaceQuantities(*modulation.mutable_on_off());
  if (modulation.has_schedule()) {
    for (RateSegment& segment :
         *modulation.mutable_schedule()->mutable_segments()) {
      ReplaceQuantities(segment);
    }
  }
  if (modulation.has_markov()) {
    for (RateState& state : *modulation.mutable_markov()->mutable_states()) {
      ReplaceQuantities(state);
    }
  }
}

void ReplaceTimes(Arrivals& arrivals) {
  for (RateModulation& modulation : *arrivals.mutable_modulations()) {
    ReplaceTimes(modulation);
  }
  for (Arrivals& part : *arrivals.mutable_superposed()) {
    for (RateModulation& modulation : *part.mutable_modulations()) {
      ReplaceTimes(modulation);
    }
  }
}

void CheckTimes(const Arrivals& arrivals, const Path& path,
                Problems& problems) {
  for (int i = 0; i < arrivals.modulations_size(); ++i) {
    const RateModulation& modulation = arrivals.modulations(i);
    const Path place = path.Field("modulations").At(i);
    CheckQuantities(modulation.sine(), place.Field("sine"), problems);
    CheckQuantities(modulation.on_off(), place.Field("on_off"), problems);
    const Path segments = place.Field("schedule").Field("segments");
    for (int j = 0; j < modulation.schedule().segments_size(); ++j) {
      CheckQuantities(modulation.schedule().segments(j), segments.At(j),
                      problems);
    }
    const Path states = place.Field("markov").Field("states");
    for (int j = 0; j < modulation.markov().states_size(); ++j) {
      CheckQuantities(modulation.markov().states(j), states.At(j), problems);
    }
  }
  for (int i = 0; i < arrivals.superposed_size(); ++i) {
    CheckTimes(arrivals.superposed(i), path.Field("superposed").At(i),
               problems);
  }
}

// Leaves a recording alone that CheckArrivals() complains about.
void FillInFromRecording(Iterations& iterations) {
  const Arrivals& arrivals = iterations.arrivals();
  if (arrivals.process() != "recorded") return;
  const bool needs_rate =
      !iterations.has_rate() && !iterations.has_open_loop_interval_ns();
  const bool needs_count =
      !arrivals.recorded().repeat() && !iterations.has_max_iteration_count();
  if (!needs_rate && !needs_count) return;
  const auto gaps = ParseRecording(arrivals.recorded().times());
  if (!gaps.ok() || !(arrivals.kept_share() > 0)) return;
  const auto count = static_cast<int64_t>(gaps->size());
  if (needs_count) iterations.set_max_iteration_count(count + 1);
  if (!needs_rate) return;
  double sum_s = 0;
  for (const double gap : *gaps) sum_s += gap;
  // The rate is that of the arrivals that are kept.
  const double interval_ns = sum_s / static_cast<double>(count) *
                             base::kNsPerSecond / arrivals.kept_share();
  iterations.set_open_loop_interval_ns(static_cast<int64_t>(std::clamp(
      std::round(interval_ns), 1.0, static_cast<double>(kMaxIntervalNs))));
}

}  // namespace

void CanonicalizeArrivals(Iterations& iterations) {
  ReplaceTimes(*iterations.mutable_arrivals());
  FillInFromRecording(iterations);
}

void ValidateArrivals(const TestValidation& validation, const Path& path,
                      const Iterations& iterations) {
  const Path place = path.Field("arrivals");
  CheckTimes(iterations.arrivals(), place, validation.problems());
  CheckArrivals(iterations.arrivals(), place, validation.problems());
  if (iterations.has_open_loop_interval_distribution()) {
    validation.Add(path,
                   "has both arrivals and open_loop_interval_distribution; "
                   "give one");
  }
  const bool is_recorded = iterations.arrivals().process() == "recorded";
  if (!is_recorded && !iterations.has_open_loop_interval_ns() &&
      !iterations.has_rate()) {
    validation.Add(place, "needs a rate; add one, such as rate: \"200/s\"");
  }
}

}  // namespace distbench::config
