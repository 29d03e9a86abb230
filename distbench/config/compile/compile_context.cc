#include "distbench/config/compile/compile_context.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/distributions/distribution.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

// ---- Actions and their lists ------------------------------------------------

IterationsPlan CompileIterations(const Action& action) {
  IterationsPlan plan;
  if (!action.has_iterations()) return plan;
  const Iterations& iterations = action.iterations();
  plan.max_count = iterations.has_max_iteration_count()
                       ? iterations.max_iteration_count()
                       : kUnlimited;
  if (iterations.has_max_duration_us()) {
    plan.max_duration_ns = 1000 * iterations.max_duration_us();
  }
  plan.open_loop = iterations.has_open_loop_interval_ns();
  plan.max_parallel =
      plan.open_loop && !iterations.has_max_parallel_iterations()
          ? kUnlimited
          : iterations.max_parallel_iterations();
  if (plan.open_loop) {
    plan.interval_ns = iterations.open_loop_interval_ns();
    plan.arrivals = static_cast<ArrivalProcess>(WordNumber(
        iterations, Iterations::kOpenLoopIntervalDistributionFieldNumber));
    if (iterations.has_arrivals()) {
      plan.composed_arrivals = std::make_shared<const ArrivalPlan>(
          CompileArrivals(iterations.arrivals()));
    }
  }
  plan.warmup_count = iterations.warmup_iterations();
  plan.warmup_ns = iterations.warmup_ns();
  return plan;
}

void CompileTarget(const TestNames& names, const Action& action,
                   ActionPlan& plan) {
  switch (action.action_case()) {
    case Action::kRpcName:
      plan.kind = ActionPlan::Kind::kRpc;
      plan.target = names.rpcs.Find(action.rpc_name());
      break;
    case Action::kActionListName:
      plan.kind = ActionPlan::Kind::kList;
      plan.target = names.lists.Find(action.action_list_name());
      break;
    case Action::kActivityConfigName:
      plan.kind = ActionPlan::Kind::kActivity;
      plan.target = names.activities.Find(action.activity_config_name());
      break;
    case Action::kRpcReplayTraceName:
      plan.kind = ActionPlan::Kind::kReplay;
      plan.target = names.replay_traces.Find(action.rpc_replay_trace_name());
      break;
    case Action::ACTION_NOT_SET:
      break;
  }
}

// Fills in everything except dependencies and conditions, which depend on the
// list.
ActionPlan CompileAction(const CompileContext& context, const Action& action) {
  ActionPlan plan;
  plan.name = action.name();
  CompileTarget(context.names(), action, plan);
  plan.iterations = CompileIterations(action);
  plan.delay_distribution =
      context.DelayDistribution(action.delay_distribution_name());
  plan.send_response_when_done = action.send_response_when_done();
  plan.cancel_traffic_when_done = action.cancel_traffic_when_done();
  if (!action.request_payload_override().empty()) {
    plan.request_override = context.PayloadSize(
        action.request_payload_override(), kDefaultRequestBytes);
  }
  if (!action.response_payload_override().empty()) {
    plan.response_override = context.PayloadSize(
        action.response_payload_override(), kDefaultResponseBytes);
  }
  return plan;
}

std::vector<ActionPlan::Condition> CompileConditions(const Action& action,
                                                     const ListPlan& list) {
  std::vector<ActionPlan::Condition> conditions;
  for (absl::string_view name : action.predicates()) {
    const bool expected = !absl::ConsumePrefix(&name, "!");
    const auto it = std::lower_bound(
        list.predicates.begin(), list.predicates.end(), name,
        [](const ListPlan::Predicate& predicate, absl::string_view wanted) {
          return predicate.name < wanted;
        });
    conditions.push_back(
        {.predicate = static_cast<int>(it - list.predicates.begin()),
         .expected = expected});
  }
  return conditions;
}

ListPlan CompileList(const CompileContext& context, const ActionList& list) {
  const DistributedSystemDescription& test = context.test();
  ListPlan plan;
  plan.name = list.name();
  plan.max_rpc_samples = list.max_rpc_samples();
  plan.spin = list.has_delay_actions_by_spinning()
                  ? list.delay_actions_by_spinning()
                  : test.delay_actions_by_spinning();
  const std::map<std::string, double> predicates(
      list.predicate_probabilities().begin(),
      list.predicate_probabilities().end());
  for (const auto& [name, probability] : predicates) {
    plan.predicates.push_back({name, probability});
  }
  // The last position of each action so far, to which a dependency refers.
  absl::flat_hash_map<std::string, int> last_positions;
  for (const std::string& name : list.action_names()) {
    const Action& action = test.actions(context.names().actions.Find(name));
    const int position = plan.actions.size();
    plan.actions.push_back(CompileAction(context, action));
    plan.actions.back().conditions = CompileConditions(action, plan);
    for (const std::string& dependency : action.dependencies()) {
      const int earlier = last_positions.at(dependency);
      plan.actions.back().dependencies.push_back(earlier);
      plan.actions[earlier].dependents.push_back(position);
    }
    last_positions[name] = position;
  }
  return plan;
}

// ---- Faults of servers ------------------------------------------------------

// Clients' reports show the message, which must not be taken for a failure that
// nobody planned.
std::string ErrorOf(const ServerFault& fault) {
  return absl::StrCat(fault.error_code(), ": planned fault \"", fault.name(),
                      "\"");
}

FaultPlan CompileFault(const CompileContext& context,
                       const ServerFault& fault) {
  FaultPlan plan;
  plan.name = fault.name();
  plan.service = context.names().services.Find(fault.service());
  plan.instances.assign(fault.instances().begin(), fault.instances().end());
  plan.rpc = context.names().rpcs.Find(fault.rpc_name());
  plan.start_ns = fault.start_ns();
  if (fault.has_duration_ns()) plan.duration_ns = fault.duration_ns();
  plan.repeat_ns = fault.repeat_ns();
  plan.probability = fault.probability();
  switch (fault.fault_case()) {
    case ServerFault::kErrorCode:
      plan.kind = FaultPlan::Kind::kError;
      plan.error = ErrorOf(fault);
      break;
    case ServerFault::kExtraLatency:
      plan.kind = FaultPlan::Kind::kExtraLatency;
      plan.extra_latency.fixed_ns = absl::ToInt64Nanoseconds(
          ParseDurationWithUnit(fault.extra_latency()).value());
      break;
    case ServerFault::kExtraLatencyDistribution:
      plan.kind = FaultPlan::Kind::kExtraLatency;
      plan.extra_latency.distribution =
          context.DelayDistribution(fault.extra_latency_distribution());
      break;
    case ServerFault::kFreeze:
      plan.kind = FaultPlan::Kind::kFreeze;
      break;
    case ServerFault::kResetConnections:
      plan.kind = FaultPlan::Kind::kResetConnections;
      plan.duration_ns = 0;
      break;
    case ServerFault::FAULT_NOT_SET:
      break;
  }
  return plan;
}

}  // namespace

// The order is: joint distributions, delays, sizes.

std::vector<Distribution> CompileContext::MakeDistributions() const {
  std::vector<Distribution> distributions;
  for (const auto* configs :
       {&test_.distribution_config(), &test_.delay_distribution_configs(),
        &test_.size_distribution_configs()}) {
    for (const DistributionConfig& config : *configs) {
      distributions.push_back(MakeDistribution(config));
    }
  }
  return distributions;
}

int CompileContext::JointDistribution(const std::string& name) const {
  return names_.joint_distributions.Find(name);
}

int CompileContext::DelayDistribution(const std::string& name) const {
  const int index = names_.delay_distributions.Find(name);
  if (index == kNone) return kNone;
  return test_.distribution_config_size() + index;
}

int CompileContext::SizeDistribution(const std::string& name) const {
  const int index = names_.size_distributions.Find(name);
  if (index == kNone) return kNone;
  return test_.distribution_config_size() +
         test_.delay_distribution_configs_size() + index;
}

SizePlan CompileContext::PayloadSize(const std::string& name,
                                     int64_t default_bytes) const {
  const int index = names_.payloads.Find(name);
  if (index == kNone) return {.fixed_bytes = default_bytes};
  const PayloadSpec& payload = test_.payload_descriptions(index);
  return {.fixed_bytes = payload.size(),
          .distribution = SizeDistribution(payload.size_distribution_name())};
}

std::vector<ListPlan> CompileLists(const CompileContext& context) {
  std::vector<ListPlan> lists;
  for (const ActionList& list : context.test().action_lists()) {
    lists.push_back(CompileList(context, list));
  }
  return lists;
}

std::vector<FaultPlan> CompileFaults(const CompileContext& context) {
  std::vector<FaultPlan> faults;
  for (const ServerFault& fault : context.test().server_faults()) {
    faults.push_back(CompileFault(context, fault));
  }
  return faults;
}

}  // namespace distbench::config
