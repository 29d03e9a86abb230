// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_knob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/products/search/strategy/load_search.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::protection {
namespace {

using config::HostAmount;
using google::protobuf::FieldDescriptor;

enum class SettingKind {
  kWeight,  // a share under contention
  kMemoryGuarantee,
  kMemoryLimit,
  kCpuLimit,
};

struct Variable {
  absl::string_view name;
  SettingKind kind;
};

constexpr Variable kVariables[] = {
    {"cpu_weight", SettingKind::kWeight},
    {"io_weight", SettingKind::kWeight},
    {"memory_min", SettingKind::kMemoryGuarantee},
    {"memory_low", SettingKind::kMemoryGuarantee},
    {"memory_high", SettingKind::kMemoryLimit},
    {"memory_max", SettingKind::kMemoryLimit},
    {"memory_swap_max", SettingKind::kMemoryLimit},
    {"cpu_max", SettingKind::kCpuLimit}};

constexpr double kMaxWeight = 10'000;

// One percent of a CPU, or of the host's CPUs.
constexpr double kMinPercent = 1;

const Variable* FindVariable(absl::string_view name) {
  for (const Variable& variable : kVariables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

const FieldDescriptor* FieldOf(const std::string& name) {
  return ControlGroup::descriptor()->FindFieldByName(name);
}

bool Has(const ControlGroup& group, const std::string& name) {
  return group.GetReflection()->HasField(group, FieldOf(name));
}

absl::StatusOr<int> FindSet(const Experiment& experiment,
                            absl::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < experiment.controls_size(); ++i) {
    names.push_back(experiment.controls(i).name());
    if (names.back() == name) return i;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the experiment has no controls named ", config::Quoted(name), "; ",
      config::Suggestion(std::string(name), names)));
}

absl::StatusOr<int> FindGroup(const ControlSet& set, const std::string& name) {
  std::vector<int> found;
  for (int i = 0; i < set.groups_size(); ++i) {
    if (Has(set.groups(i), name)) found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  return absl::InvalidArgumentError(absl::StrCat(
      found.empty() ? "no group" : "more than one group", " of the controls ",
      config::Quoted(set.name()), " has ", name,
      "; the knob needs exactly one, with a value to start from"));
}

// Whether the group has instances of the test itself, rather than only of
// antagonists, which an experiment adds.
bool IsOfSubject(const ControlGroup& group,
                 const DistributedSystemDescription& test) {
  for (const std::string& glob : group.services()) {
    for (const ServiceSpec& service : test.services()) {
      if (config::GlobMatches(glob, service.name())) return true;
    }
  }
  return false;
}

void SetRange(const HostAmount& amount, const ControlSetting& whole,
              double least, ControlSetting& setting) {
  const bool is_share = amount.kind == HostAmount::Kind::kPercentOfHost;
  setting.value = amount.value;
  setting.is_whole = whole.is_whole;
  setting.min_value = is_share ? kMinPercent : least;
  setting.max_value = is_share ? 100 : whole.max_value;
}

// Reads the value, its range and its unit.
absl::Status ReadValue(const ControlGroup& group, SettingKind kind,
                       ControlSetting& setting) {
  const google::protobuf::Reflection& reflection = *group.GetReflection();
  const FieldDescriptor* field = FieldOf(setting.name);
  if (kind == SettingKind::kWeight) {
    setting.value = reflection.GetInt32(group, field);
    setting.max_value = kMaxWeight;
    setting.unit = setting.name;
    return absl::OkStatus();
  }
  const bool is_cpu = kind == SettingKind::kCpuLimit;
  const std::string text = reflection.GetString(group, field);
  const absl::StatusOr<HostAmount> amount =
      is_cpu ? config::ParseCpuAmount(text) : config::ParseMemoryAmount(text);
  if (!amount.ok()) return amount.status();
  if (amount->kind == HostAmount::Kind::kUnlimited || amount->value <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(setting.name, " is ", config::Quoted(text),
                     "; the knob needs an amount above 0 to start from"));
  }
  ControlSetting most;
  most.is_whole = !is_cpu;
  most.max_value = is_cpu ? config::kMaxCpus : search::kMaxSearchLoad;
  SetRange(*amount, most, is_cpu ? config::kMinCpus : 1, setting);
  const bool is_share = amount->kind == HostAmount::Kind::kPercentOfHost;
  setting.unit = absl::StrCat(is_share ? "percent of the host as "
                              : is_cpu ? "CPUs as "
                                       : "bytes of ",
                              setting.name);
  // A whole number is enough for a share of memory.
  if (setting.is_whole) setting.value = std::round(setting.value);
  setting.value =
      std::clamp(setting.value, setting.min_value, setting.max_value);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ControlSetting> FindControlSetting(
    const DistributedSystemDescription& test, absl::string_view set,
    absl::string_view name) {
  const Variable* const variable = FindVariable(name);
  if (variable == nullptr) {
    std::vector<std::string> names;
    for (const Variable& each : kVariables) names.emplace_back(each.name);
    return absl::InvalidArgumentError(absl::StrCat(
        config::Quoted(name), " is no setting that a knob can vary; ",
        config::Suggestion(std::string(name), names)));
  }
  ControlSetting setting;
  setting.name = std::string(name);
  const absl::StatusOr<int> set_index = FindSet(test.experiment(), set);
  if (!set_index.ok()) return set_index.status();
  setting.set = *set_index;
  const ControlSet& controls = test.experiment().controls(setting.set);
  const absl::StatusOr<int> group_index = FindGroup(controls, setting.name);
  if (!group_index.ok()) return group_index.status();
  setting.group = *group_index;
  const ControlGroup& group = controls.groups(setting.group);
  const bool is_limit = variable->kind == SettingKind::kMemoryLimit ||
                        variable->kind == SettingKind::kCpuLimit;
  const bool is_of_subject = IsOfSubject(group, test);
  if (is_limit && is_of_subject) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " of the controls ", config::Quoted(set),
        " limits the test's own services, which protects nothing; vary what "
        "they are given (cpu_weight, io_weight, memory_min, memory_low), or a "
        "limit of the antagonist"));
  }
  setting.protects_by_more = is_of_subject;
  const absl::Status status = ReadValue(group, variable->kind, setting);
  if (!status.ok()) return status;
  return setting;
}

void SetControl(const ControlSetting& setting, double value,
                DistributedSystemDescription& test) {
  ControlGroup& group = *test.mutable_experiment()
                             ->mutable_controls(setting.set)
                             ->mutable_groups(setting.group);
  const google::protobuf::Reflection& reflection = *group.GetReflection();
  const FieldDescriptor* field = FieldOf(setting.name);
  const SettingKind kind = FindVariable(setting.name)->kind;
  if (kind == SettingKind::kWeight) {
    reflection.SetInt32(&group, field, static_cast<int32_t>(value));
    return;
  }
  const std::string before = reflection.GetString(group, field);
  absl::StatusOr<HostAmount> amount = kind == SettingKind::kCpuLimit
                                          ? config::ParseCpuAmount(before)
                                          : config::ParseMemoryAmount(before);
  if (!amount.ok()) return;  // FindControlSetting() has parsed it
  amount->value = value;
  reflection.SetString(&group, field,
                       kind == SettingKind::kCpuLimit
                           ? config::FormatCpuAmount(*amount)
                           : config::FormatMemoryAmount(*amount));
}

ControlKnob::ControlKnob(DistributedSystemDescription test,
                         ControlSetting setting)
    : test_(std::move(test)), setting_(std::move(setting)) {}

absl::StatusOr<DistributedSystemDescription> ControlKnob::At(
    double load, const search::ProbeTiming& timing) const {
  DistributedSystemDescription test = test_;
  SetControl(setting_, load, test);
  search::TimeProbe(
      timing, [](const Action&) { return false; }, test);
  return test;
}

}  // namespace distbench::protection
