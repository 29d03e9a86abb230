// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/knobs/knob_name.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/search/knobs/knob.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::search {
namespace {

using Kind = KnobName::Kind;

// What knobs with a target begin with.
struct Form {
  absl::string_view name;
  Kind kind;
};
constexpr Form kForms[] = {{"concurrency:", Kind::kConcurrency},
                           {"payload:", Kind::kPayload},
                           {"fanout:", Kind::kFanout},
                           {"control:", Kind::kControl},
                           {"builder:", Kind::kBuilder}};

absl::Status UnknownKnob(absl::string_view text) {
  const absl::string_view word = base::TextScanner(text).TakeUntil(":");
  const std::optional<std::string> meant = config::ClosestName(
      word, {"rate", "concurrency", "payload", "fanout", "control", "builder"});
  const bool is_misspelt = meant.has_value() && *meant != word;
  return absl::InvalidArgumentError(absl::StrCat(
      config::Quoted(text), " is not a knob; ",
      is_misspelt ? absl::StrCat("did you mean ", config::Quoted(*meant), "? ")
                  : "",
      "knobs are rate, concurrency, concurrency:ACTION, payload:NAME, "
      "fanout:RPC, control:SET:SETTING and builder:CONFIG:PARAMETER"));
}

absl::Status NothingNamed(absl::string_view kind, const std::string& name,
                          const std::vector<std::string>& names) {
  return absl::InvalidArgumentError(
      absl::StrCat("no ", kind, " is named ", config::Quoted(name), "; ",
                   config::Suggestion(name, names)));
}

template <typename Elements>
auto FindNamed(const Elements& elements, const std::string& name) {
  return std::find_if(
      elements.begin(), elements.end(),
      [&](const auto& element) { return element.name() == name; });
}

template <typename Elements>
std::vector<std::string> NamesOf(const Elements& elements) {
  std::vector<std::string> names;
  for (const auto& element : elements) names.push_back(element.name());
  return names;
}

absl::Status CheckRate(const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  for (const Action& action : test.actions()) {
    if (config::IsOpenLoop(action) && main_actions.contains(action.name())) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "there is no rate to vary: no action of a service's main list has a "
      "rate or open_loop_interval_ns; the knob \"concurrency\" varies closed "
      "loops");
}

absl::Status CheckConcurrency(const std::string& name,
                              const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  std::vector<std::string> names;
  for (const Action& action : test.actions()) {
    const bool is_candidate =
        name.empty() ? config::IsClosedLoop(action) : action.has_iterations();
    if (is_candidate && main_actions.contains(action.name())) {
      names.push_back(action.name());
    }
  }
  if (name.empty() && names.empty()) {
    return absl::InvalidArgumentError(
        "there is no concurrency to vary: no action of a service's main list "
        "has iterations without a rate or open_loop_interval_ns; "
        "\"concurrency:ACTION\" varies the cap of an open loop");
  }
  if (name.empty() ||
      std::find(names.begin(), names.end(), name) != names.end()) {
    return absl::OkStatus();
  }
  return NothingNamed("action of a main list that has iterations", name, names);
}

// Checks for iterations, which give a probe its duration.
absl::Status CheckLoops(const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  for (const Action& action : test.actions()) {
    if (action.has_iterations() && main_actions.contains(action.name())) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "no action of a service's main list has iterations, so there is no load "
      "that lasts");
}

absl::Status CheckPayload(const std::string& name,
                          const DistributedSystemDescription& test) {
  const auto found = FindNamed(test.payload_descriptions(), name);
  if (found == test.payload_descriptions().end()) {
    return NothingNamed("payload description", name,
                        NamesOf(test.payload_descriptions()));
  }
  if (found->has_size_distribution_name()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the size of ", config::Quoted(name),
        " is drawn from a distribution; the knob needs a fixed size"));
  }
  return CheckLoops(test);
}

absl::Status CheckFanout(const std::string& name,
                         const DistributedSystemDescription& test) {
  const auto found = FindNamed(test.rpc_descriptions(), name);
  if (found == test.rpc_descriptions().end()) {
    return NothingNamed("RPC", name, NamesOf(test.rpc_descriptions()));
  }
  const absl::StatusOr<config::FanoutPlan> fanout =
      config::ParseFanoutFilter(found->fanout_filter());
  if (fanout.ok() && fanout->kind == config::FanoutPlan::Kind::kStochastic &&
      fanout->choices.size() == 1) {
    return CheckLoops(test);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the fanout_filter of ", config::Quoted(name), " is ",
      config::Quoted(found->fanout_filter()),
      "; the knob varies the number of targets of stochastic{1:N}"));
}

}  // namespace

absl::StatusOr<KnobName> ParseKnobName(absl::string_view text) {
  KnobName knob;
  if (text == "rate") return knob;
  if (text == "concurrency") {
    knob.kind = Kind::kConcurrency;
    return knob;
  }
  base::TextScanner in(text);
  const Form* const form = in.TakeOneOf(kForms);
  if (form == nullptr) return UnknownKnob(text);
  knob.kind = form->kind;
  absl::string_view target = in.rest();
  if (knob.kind == Kind::kControl) {
    knob.control_set = std::string(in.TakeUntil(":"));
    if (knob.control_set.empty() || !in.Take(":")) return UnknownKnob(text);
    target = in.rest();
  } else if (knob.kind == Kind::kBuilder) {
    const auto [config, parameter] = base::SplitOwner(target, ':');
    if (config.empty()) return UnknownKnob(text);
    knob.config = std::string(config);
    target = parameter;
  }
  if (target.empty()) return UnknownKnob(text);
  knob.target = std::string(target);
  return knob;
}

absl::Status CheckKnob(const KnobName& knob,
                       const DistributedSystemDescription& test) {
  switch (knob.kind) {
    case Kind::kRate:
      return CheckRate(test);
    case Kind::kConcurrency:
      return CheckConcurrency(knob.target, test);
    case Kind::kPayload:
      return CheckPayload(knob.target, test);
    case Kind::kFanout:
      return CheckFanout(knob.target, test);
    case Kind::kControl:
      return MakeControlKnob(knob, test).status();
    case Kind::kBuilder:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

namespace {

// "control:SET:SETTING" for each setting of the experiment's controls.
void AddControlKnobs(const DistributedSystemDescription& test,
                     std::vector<std::string>& knobs) {
  for (const ControlSet& controls : test.experiment().controls()) {
    for (const ControlGroup& group : controls.groups()) {
      std::vector<const google::protobuf::FieldDescriptor*> settings;
      group.GetReflection()->ListFields(group, &settings);
      for (const google::protobuf::FieldDescriptor* setting : settings) {
        knobs.push_back(
            absl::StrCat("control:", controls.name(), ":", setting->name()));
      }
    }
  }
}

}  // namespace

std::vector<std::string> KnobsOf(const DistributedSystemDescription& test) {
  std::vector<std::string> knobs = {"rate", "concurrency"};
  const auto add = [&](absl::string_view kind, const auto& elements) {
    for (const std::string& name : NamesOf(elements)) {
      knobs.push_back(absl::StrCat(kind, name));
    }
  };
  add("concurrency:", test.actions());
  add("payload:", test.payload_descriptions());
  add("fanout:", test.rpc_descriptions());
  AddControlKnobs(test, knobs);
  const auto is_wrong = [&](const std::string& text) {
    const absl::StatusOr<KnobName> name = ParseKnobName(text);
    return !name.ok() || !CheckKnob(*name, test).ok();
  };
  knobs.erase(std::remove_if(knobs.begin(), knobs.end(), is_wrong),
              knobs.end());
  return knobs;
}

}  // namespace distbench::search
