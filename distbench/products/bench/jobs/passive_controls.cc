// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/passive_controls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/protection/language/control_sets.h"
#include "proto/experiment.pb.h"

namespace distbench::bench {
namespace {

void LeaveCpu(ControlGroup& group) {
  group.clear_cpu_weight();
  group.clear_cpu_max();
  group.clear_cpuset_cpus();
}

void LeaveMemory(ControlGroup& group) {
  group.clear_cpuset_mems();
  group.clear_memory_min();
  group.clear_memory_low();
  group.clear_memory_high();
  group.clear_memory_max();
  group.clear_memory_swap_max();
}

void LeaveIo(ControlGroup& group) {
  group.clear_io_weight();
  group.clear_io_max();
  group.clear_io_priority_class();
}

void RemoveEmptyGroups(ControlSet& controls) {
  google::protobuf::RepeatedPtrField<ControlGroup> kept;
  for (ControlGroup& group : *controls.mutable_groups()) {
    if (protection::HasSettings(group)) *kept.Add() = std::move(group);
  }
  controls.mutable_groups()->Swap(&kept);
}

void LeaveUntouchedIn(absl::Span<const std::string> passive,
                      ControlSet& controls) {
  for (const std::string& controller : passive) {
    for (ControlGroup& group : *controls.mutable_groups()) {
      if (controller == "cpu") LeaveCpu(group);
      if (controller == "mem") LeaveMemory(group);
      if (controller == "io") LeaveIo(group);
    }
    if (controller == "io") controls.clear_io_cost();
  }
  if (!passive.empty()) RemoveEmptyGroups(controls);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParsePassive(absl::string_view text) {
  static const auto& kControllers =
      *new std::vector<std::string>{"cpu", "io", "mem"};
  std::vector<std::string> known = kControllers;
  known.push_back("all");
  std::set<std::string> chosen;
  for (const absl::string_view name : absl::StrSplit(text, '+')) {
    if (name == "all") {
      chosen.insert(kControllers.begin(), kControllers.end());
    } else if (std::find(known.begin(), known.end(), name) != known.end()) {
      chosen.insert(std::string(name));
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "passive=", config::Quoted(text), ": no controller is named ",
          config::Quoted(name), "; ", config::Suggestion(name, known)));
    }
  }
  return std::vector<std::string>(chosen.begin(), chosen.end());
}

void LeaveUntouched(absl::Span<const std::string> passive,
                    DistributedSystemDescription& test) {
  if (test.has_controls()) {
    LeaveUntouchedIn(passive, *test.mutable_controls());
    if (test.controls().groups().empty() && test.controls().io_cost().empty()) {
      test.clear_controls();
    }
  }
  if (!test.has_experiment()) return;
  for (ControlSet& controls : *test.mutable_experiment()->mutable_controls()) {
    LeaveUntouchedIn(passive, controls);
  }
}

}  // namespace distbench::bench
