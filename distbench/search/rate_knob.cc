#include "distbench/search/rate_knob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

// What a run may take beyond its traffic before it is given up.
constexpr int64_t kSlackSeconds = 60;

constexpr double kNsPerSecond = 1e9;

bool IsOpenLoop(const Action& action) {
  return action.iterations().has_open_loop_interval_ns();
}

// Instances whose main program each list is, by name.
std::map<std::string, int64_t> MainListUsers(
    const DistributedSystemDescription& test) {
  std::map<std::string, int64_t> users;
  for (const ServiceSpec& service : test.services()) {
    users[service.name()] = service.count();
  }
  return users;
}

// Names of the actions of main lists, with how many instances run each.
std::map<std::string, int64_t> MainActions(
    const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> users = MainListUsers(test);
  std::map<std::string, int64_t> actions;
  for (const ActionList& list : test.action_lists()) {
    const auto found = users.find(list.name());
    if (found == users.end()) continue;
    for (const std::string& name : list.action_names()) {
      actions[name] += found->second;
    }
  }
  return actions;
}

}  // namespace

absl::StatusOr<RateKnob> RateKnob::Make(DistributedSystemDescription test) {
  const std::map<std::string, int64_t> main_actions = MainActions(test);
  double load = 0;
  for (const Action& action : test.actions()) {
    const auto found = main_actions.find(action.name());
    if (found == main_actions.end() || !IsOpenLoop(action)) continue;
    load += found->second * kNsPerSecond /
            static_cast<double>(action.iterations().open_loop_interval_ns());
  }
  if (load == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the test \"", test.name(),
        "\" has no load to search for: no action of a service's main list has "
        "an open_loop_interval_ns"));
  }
  return RateKnob(std::move(test), load);
}

RateKnob::RateKnob(DistributedSystemDescription test, double base_load)
    : test_(std::move(test)), base_load_(base_load) {}

DistributedSystemDescription RateKnob::At(const Setting& setting) const {
  DistributedSystemDescription test = test_;
  const std::map<std::string, int64_t> main_actions = MainActions(test);
  const double factor = setting.load / base_load_;
  const absl::Duration duration = setting.warmup + setting.measured;
  for (Action& action : *test.mutable_actions()) {
    if (!IsOpenLoop(action)) continue;
    Iterations& iterations = *action.mutable_iterations();
    iterations.set_open_loop_interval_ns(std::max<int64_t>(
        1, std::llround(iterations.open_loop_interval_ns() / factor)));
    if (!main_actions.contains(action.name())) continue;
    iterations.clear_max_iteration_count();
    iterations.clear_warmup_iterations();
    iterations.set_max_duration_us(absl::ToInt64Microseconds(duration));
    iterations.set_warmup_ns(absl::ToInt64Nanoseconds(setting.warmup));
  }
  (*test.mutable_attributes())["test_timeout"] =
      absl::StrCat(kSlackSeconds + absl::ToInt64Seconds(
                                       absl::Ceil(duration, absl::Seconds(1))));
  return test;
}

}  // namespace distbench
