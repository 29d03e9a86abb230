// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/check.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "distbench/base/plugins.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/rules/type_rules.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/flow_graph.h"
#include "distbench/config/validate/language_part.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

// The most that one client instance can send per second on the fastest machines
// measured (docs/performance.md), with a margin.
constexpr double kMostPerSecond = 5e6;

using Test = DistributedSystemDescription;

// The names of the parts of a test that its instances use, by the field of the
// test that has such parts.
using UsedNames = std::map<int, std::set<std::string>>;

// Adds what single references of the message name. That an RPC lists a client
// does not use it.
void AddReferences(const google::protobuf::Message& message, UsedNames& used) {
  for (const FieldRule& rule : RulesOf(message.GetDescriptor()).fields) {
    if (rule.refers_to == nullptr || rule.field->is_repeated()) continue;
    used[rule.refers_to->number()].insert(
        message.GetReflection()->GetString(message, rule.field));
  }
}

UsedNames Use(const Test& test, const TestNames& names) {
  UsedNames used;
  for (const ActionUse& use : ReachableUses(test, names)) {
    const Action& action = test.actions(use.action);
    used[Test::kServicesFieldNumber].insert(test.services(use.service).name());
    used[Test::kActionsFieldNumber].insert(action.name());
    // The list that handles an RPC may be empty.
    used[Test::kActionListsFieldNumber].insert(
        {test.action_lists(use.list).name(), action.rpc_name()});
    AddReferences(action, used);
    if (const int rpc = names.rpcs.Find(action.rpc_name()); rpc != kNone) {
      AddReferences(test.rpc_descriptions(rpc), used);
    }
    if (const int trace =
            names.replay_traces.Find(action.rpc_replay_trace_name());
        trace != kNone) {
      AddReferences(test.rpc_replay_traces(trace), used);
    }
  }
  return used;
}

void WarnUnusedParts(const Test& test, const TestNames& names, const Path& path,
                     Problems& warnings) {
  UsedNames used = Use(test, names);
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->AddUsedActivities(test, used[Test::kActivityConfigsFieldNumber]);
  }
  for (const int field :
       {Test::kServicesFieldNumber, Test::kPayloadDescriptionsFieldNumber,
        Test::kRpcDescriptionsFieldNumber, Test::kActionListsFieldNumber,
        Test::kActionsFieldNumber, Test::kActivityConfigsFieldNumber}) {
    const Path parts =
        path.Field(Test::descriptor()->FindFieldByNumber(field)->name());
    for (const std::string& name : names.Of(field)->names()) {
      if (used[field].contains(name)) continue;
      warnings.Add(parts.At(name),
                   "nothing in this test uses it; remove it, or correct the "
                   "name of what should use it");
    }
  }
}

// What is due just at the end is measured, and of random arrivals also others
// by chance.
bool MeasuresLittle(const Iterations& iterations) {
  if (iterations.has_max_iteration_count() &&
      iterations.warmup_iterations() >= iterations.max_iteration_count()) {
    return true;
  }
  return iterations.has_max_duration_us() &&
         WarmupNs(iterations) / 1e3 >=
             static_cast<double>(iterations.max_duration_us());
}

// An action without iterations runs once.
bool IsEndless(const Action& action) {
  return action.has_iterations() &&
         !action.iterations().has_max_iteration_count() &&
         !action.iterations().has_max_duration_us();
}

bool CancelsTraffic(const Action& action) {
  return action.cancel_traffic_when_done();
}

void WarnOfIterations(const DistributedSystemDescription& test,
                      const Path& path, Problems& warnings) {
  const bool is_cancelled =
      std::any_of(test.actions().begin(), test.actions().end(), CancelsTraffic);
  for (const Action& action : test.actions()) {
    const Iterations& iterations = action.iterations();
    const Path place =
        path.Field("actions").At(action.name()).Field("iterations");
    if (MeasuresLittle(iterations)) {
      warnings.Add(place,
                   "the warm-up is as long as the action, so that little or "
                   "nothing of it is measured; shorten warmup or "
                   "warmup_iterations");
    }
    if (IsEndless(action) && !is_cancelled) {
      warnings.Add(place,
                   absl::StrFormat(
                       "this %s loop has no end, and runs until the test's "
                       "time-out; give it max_duration or max_iteration_count",
                       IsOpenLoop(action) ? "open" : "closed"));
    }
    const double per_second = MeanRatePerSecond(iterations);
    if (action.has_rpc_name() && per_second > kMostPerSecond) {
      warnings.Add(place,
                   absl::StrFormat("asks each instance for %.3g per second, "
                                   "which is more than one can send; give it "
                                   "a lower rate, such as \"200/s\"",
                                   per_second));
    }
  }
}

// Requests whose lists are empty need no place.
void WarnOfAdmission(const DistributedSystemDescription& test,
                     const TestNames& names, const Path& path,
                     Problems& warnings) {
  for (const ServiceSpec& service : test.services()) {
    if (!service.has_admission()) continue;
    const bool is_used =
        std::any_of(test.rpc_descriptions().begin(),
                    test.rpc_descriptions().end(), [&](const RpcSpec& rpc) {
                      const int list = names.lists.Find(rpc.name());
                      return rpc.server() == service.name() && list != kNone &&
                             !test.action_lists(list).action_names().empty();
                    });
    if (is_used) continue;
    warnings.Add(path.Field("services").At(service.name()).Field("admission"),
                 "limits nothing, because the lists of the service's RPCs are "
                 "empty; give one of them an action, or remove this");
  }
}

}  // namespace

std::vector<Problem> FindWarnings(const TestSequence& sequence) {
  Problems warnings;
  for (int i = 0; i < sequence.tests_size(); ++i) {
    const DistributedSystemDescription& test = sequence.tests(i);
    const Path path = Path().Field("tests").At(i);
    const TestNames names(test);
    WarnUnusedParts(test, names, path, warnings);
    WarnOfAdmission(test, names, path, warnings);
    WarnOfIterations(test, path, warnings);
    for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
      part->Warn(test, path, warnings);
    }
  }
  return std::move(warnings).Take();
}

}  // namespace distbench::config
