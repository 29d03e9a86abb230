#include "distbench/search/knobs/rate_knob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "distbench/base/time_units.h"
#include "distbench/config/syntax/main_actions.h"

namespace distbench {
namespace {

}  // namespace

absl::StatusOr<RateKnob> RateKnob::Make(DistributedSystemDescription test) {
  const absl::Status status = CheckKnob({}, test);
  if (!status.ok()) return status;
  const std::map<std::string, int64_t> main_actions = MainActions(test);
  double load = 0;
  for (const Action& action : test.actions()) {
    const auto found = main_actions.find(action.name());
    if (found == main_actions.end() || !IsOpenLoop(action)) continue;
    load += static_cast<double>(found->second) * kNsPerSecond /
            static_cast<double>(action.iterations().open_loop_interval_ns());
  }
  return RateKnob(std::move(test), load);
}

RateKnob::RateKnob(DistributedSystemDescription test, double base_load)
    : test_(std::move(test)), base_load_(base_load) {}

absl::StatusOr<DistributedSystemDescription> RateKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  const double factor = load / base_load_;
  for (Action& action : *test.mutable_actions()) {
    if (!IsOpenLoop(action)) continue;
    Iterations& iterations = *action.mutable_iterations();
    iterations.set_open_loop_interval_ns(std::max<int64_t>(
        1, std::llround(iterations.open_loop_interval_ns() / factor)));
  }
  TimeProbe(timing, IsOpenLoop, test);
  return test;
}

}  // namespace distbench
