#include "distbench/products/search/knobs/control_knob.h"

#include <utility>

namespace distbench::search {

ControlKnob::ControlKnob(DistributedSystemDescription test,
                         ControlSetting setting)
    : test_(std::move(test)), setting_(std::move(setting)) {}

absl::StatusOr<DistributedSystemDescription> ControlKnob::At(
    double load, const ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  SetControl(setting_, load, test);
  TimeProbe(
      timing, [](const Action&) { return false; }, test);
  return test;
}

}  // namespace distbench::search
