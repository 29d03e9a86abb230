#include <algorithm>
#include <cmath>
#include <cstdint>

#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/arrivals/recording.h"
#include "distbench/config/validate/arrivals.h"

namespace distbench::config {
// Leaves a recording alone that CheckArrivals() complains about.
void CanonicalizeArrivals(Iterations& iterations) {
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

void ValidateArrivals(const TestValidation& validation, const Path& path,
                      const Iterations& iterations) {
  const Path place = path.Field("arrivals");
  CheckArrivalsBetweenFields(iterations.arrivals(), place,
                             validation.problems());
  const bool is_recorded = iterations.arrivals().process() == "recorded";
  if (!is_recorded && !iterations.has_open_loop_interval_ns() &&
      !iterations.has_rate()) {
    validation.Add(place, "needs a rate; add one, such as rate: \"200/s\"");
  }
}

}  // namespace distbench::config
