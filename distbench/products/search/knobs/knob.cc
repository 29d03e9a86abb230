// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/knobs/knob.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/search/knobs/knobs.h"

namespace distbench::search {
namespace {

// Time that a run may take in addition to its traffic.
constexpr int64_t kSlackSeconds = 60;

bool EndsByCount(const Action& action) {
  return config::IsClosedLoop(action) &&
         action.iterations().has_max_iteration_count() &&
         !action.iterations().has_max_duration_us();
}

void Time(const ProbeTiming& timing, Iterations& iterations) {
  iterations.clear_max_iteration_count();
  iterations.clear_warmup_iterations();
  iterations.set_max_duration_us(
      absl::ToInt64Microseconds(timing.warmup + timing.measured));
  iterations.set_warmup_ns(absl::ToInt64Nanoseconds(timing.warmup));
}

}  // namespace

void TimeProbe(const ProbeTiming& timing,
               const std::function<bool(const Action& action)>& is_turned,
               DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  std::vector<Action*> loops;
  std::vector<Action*> timed;
  for (Action& action : *test.mutable_actions()) {
    if (!action.has_iterations() || !main_actions.contains(action.name())) {
      continue;
    }
    loops.push_back(&action);
    if (!EndsByCount(action) || is_turned(action)) timed.push_back(&action);
  }
  for (Action* action : timed.empty() ? loops : timed) {
    Time(timing, *action->mutable_iterations());
  }
  const absl::Duration duration = timing.warmup + timing.measured;
  (*test.mutable_attributes())[config::kTestTimeoutAttribute] =
      absl::StrCat(kSlackSeconds + absl::ToInt64Seconds(
                                       absl::Ceil(duration, absl::Seconds(1))));
  test.set_sample_memory_bytes(0);
  test.clear_search();
}

absl::StatusOr<std::unique_ptr<Knob>> MakeControlKnob(
    const KnobName& name, const DistributedSystemDescription& test) {
  const auto& makers = base::Plugins<ControlKnobs>::All();
  if (makers.empty()) {
    return absl::InvalidArgumentError(
        "knobs of controls need the product protection, which this program was "
        "built without");
  }
  return makers.begin()->second->Make(name.control_set, name.target, test);
}

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
    case KnobName::Kind::kControl:
      return MakeControlKnob(name, test);
    case KnobName::Kind::kBuilder: {
      auto knob = BuilderKnob::Make(name.config, name.target);
      if (!knob.ok()) return knob.status();
      return *std::move(knob);
    }
  }
  return absl::InternalError("unknown knob");
}

}  // namespace distbench::search
