#include <memory>
#include <utility>

#include "distbench/search/knobs/builder_knob.h"
#include "distbench/search/knobs/field_knobs.h"
#include "distbench/search/knobs/knob.h"
#include "distbench/search/knobs/rate_knob.h"

namespace distbench {

absl::StatusOr<std::unique_ptr<Knob>> MakeKnob(
    const KnobName& name, DistributedSystemDescription test) {
  const absl::Status status = CheckKnob(name, test);
  if (!status.ok()) return status;
  switch (name.kind) {
    case KnobName::Kind::kRate: {
      absl::StatusOr<RateKnob> knob = RateKnob::Make(std::move(test));
      if (!knob.ok()) return knob.status();
      return std::make_unique<RateKnob>(*std::move(knob));
    }
    case KnobName::Kind::kConcurrency:
      return std::make_unique<ConcurrencyKnob>(std::move(test), name.target);
    case KnobName::Kind::kPayload:
      return std::make_unique<PayloadKnob>(std::move(test), name.target);
    case KnobName::Kind::kFanout:
      return std::make_unique<FanoutKnob>(std::move(test), name.target);
    case KnobName::Kind::kBuilder: {
      auto knob = BuilderKnob::Make(name.config, name.target);
      if (!knob.ok()) return knob.status();
      return *std::move(knob);
    }
  }
  return absl::InternalError("unknown knob");
}

}  // namespace distbench
