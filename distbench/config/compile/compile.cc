// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/compile/compile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/distributions/distribution.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/syntax/traffic.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {
namespace {

constexpr int64_t kDefaultRequestBytes = 16;
constexpr int64_t kDefaultResponseBytes = 32;

// ---- What all parts need ----------------------------------------------------

// A valid test, which must outlive this object, and its names.
class CompileContext {
 public:
  explicit CompileContext(const DistributedSystemDescription& test)
      : test_(test), names_(test) {}

  const DistributedSystemDescription& test() const { return test_; }
  const TestNames& names() const { return names_; }

  // Builds Plan::distributions: joint distributions, delays, sizes. The
  // functions below return indices into it; kNone for an empty name.
  std::vector<Distribution> MakeDistributions() const {
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

  int JointDistribution(const std::string& name) const {
    return names_.joint_distributions.Find(name);
  }

  int DelayDistribution(const std::string& name) const {
    const int index = names_.delay_distributions.Find(name);
    if (index == kNone) return kNone;
    return test_.distribution_config_size() + index;
  }

  int SizeDistribution(const std::string& name) const {
    const int index = names_.size_distributions.Find(name);
    if (index == kNone) return kNone;
    return test_.distribution_config_size() +
           test_.delay_distribution_configs_size() + index;
  }

  // The size of the named payload, or default_bytes if the name is empty.
  SizePlan PayloadSize(const std::string& name, int64_t default_bytes) const {
    const int index = names_.payloads.Find(name);
    if (index == kNone) return {.fixed_bytes = default_bytes};
    const PayloadSpec& payload = test_.payload_descriptions(index);
    return {.fixed_bytes = payload.size(),
            .distribution = SizeDistribution(payload.size_distribution_name()),
            .size_table = payload.sizes_by_instance().empty() ? kNone : index};
  }

  // Builds Plan::size_tables: one for each payload; most are empty.
  std::vector<std::vector<int64_t>> MakeSizeTables() const {
    std::vector<std::vector<int64_t>> tables;
    for (const PayloadSpec& payload : test_.payload_descriptions()) {
      tables.emplace_back(payload.sizes_by_instance().begin(),
                          payload.sizes_by_instance().end());
    }
    return tables;
  }

  // Builds Plan::recorded_actions.
  std::vector<std::string> RecordedActions() const {
    std::vector<std::string> recorded;
    for (const Action& action : test_.actions()) {
      if (action.record_iterations()) recorded.push_back(action.name());
    }
    return recorded;
  }

 private:
  const DistributedSystemDescription& test_;
  const TestNames names_;
};

// The plan of each of these, in their order.
template <typename Config, typename Compiled>
std::vector<Compiled> CompileAll(
    const CompileContext& context,
    const google::protobuf::RepeatedPtrField<Config>& configs,
    Compiled (*compile)(const CompileContext&, const Config&)) {
  std::vector<Compiled> plans;
  for (const Config& config : configs) {
    plans.push_back(compile(context, config));
  }
  return plans;
}

// ---- Services ---------------------------------------------------------------

std::vector<MultiServerChannelPlan> CompileChannels(
    const ServiceSpec& service, const Grid& grid,
    const SettingsDeclaration& channel_settings) {
  std::vector<MultiServerChannelPlan> channels;
  for (const MultiServerChannel& channel : service.multi_server_channels()) {
    channels.push_back(
        {.name = channel.name(),
         .policy = StringSetting(channel.channel_settings(), channel_settings,
                                 kChannelPolicySetting),
         .members = MembersOf(channel, grid)});
  }
  return channels;
}

std::optional<AdmissionPlan> CompileAdmission(const ServiceSpec& service) {
  if (!service.has_admission()) return std::nullopt;
  const AdmissionSpec& admission = service.admission();
  return AdmissionPlan{.max_running = admission.max_running(),
                       .max_waiting = admission.has_max_waiting()
                                          ? admission.max_waiting()
                                          : kUnlimited,
                       .refuses_oldest = admission.refuse() == "oldest"};
}

ServicePlan CompileService(const CompileContext& context,
                           const ServiceSpec& service) {
  const Grid grid = GridOf(service);
  ServicePlan plan;
  plan.name = service.name();
  std::copy(grid.sizes.begin(), grid.sizes.end(), plan.sizes);
  plan.dimensions = grid.dimensions;
  plan.instance_count = grid.Count();
  if (IsOutside(service)) {
    plan.outside_addresses = OutsideAddresses(service);
    plan.outside_policy = service.external().load_balancing();
    return plan;
  }
  plan.main_list = context.names().lists.Find(service.name());
  plan.admission = CompileAdmission(service);
  // Validation found them, too.
  const std::vector<ResolvedDriver> drivers =
      DriversOf(context.test(), context.names(), service);
  plan.driver = MakeDriverOptions(drivers);
  plan.multi_server_channels =
      CompileChannels(service, grid, drivers.back().driver->channel_settings);
  return plan;
}

void CompileInstances(const ServiceSpec& service, int service_index,
                      Plan& plan) {
  const Grid grid = GridOf(service);
  for (int number = 0; number < grid.Count(); ++number) {
    InstancePlan instance;
    instance.name = InstanceName(service.name(), grid, number);
    instance.service = service_index;
    instance.number = number;
    const Coordinates coordinates = CoordinatesOf(grid, number);
    std::copy(coordinates.begin(), coordinates.end(), instance.coordinates);
    plan.instances.push_back(std::move(instance));
  }
}

void CompileServices(const CompileContext& context, Plan& plan) {
  for (const ServiceSpec& service : context.test().services()) {
    ServicePlan compiled = CompileService(context, service);
    compiled.first_instance = plan.instances.size();
    CompileInstances(service, plan.services.size(), plan);
    plan.services.push_back(std::move(compiled));
  }
}

// ---- RPCs -------------------------------------------------------------------

int ChannelIndex(const ServiceSpec& server, const std::string& name) {
  return name.empty() ? kNone
                      : NameIndex(server.multi_server_channels()).Find(name);
}

StreamPlan CompileStream(const CompileContext& context,
                         const StreamSpec& stream) {
  StreamPlan plan;
  plan.client = {.count = stream.client_messages(),
                 .count_distribution = context.SizeDistribution(
                     stream.client_messages_distribution()),
                 .interval = {.fixed_ns = stream.client_interval_ns(),
                              .distribution = context.DelayDistribution(
                                  stream.client_interval_distribution())}};
  plan.server = {.count = stream.server_messages(),
                 .count_distribution = context.SizeDistribution(
                     stream.server_messages_distribution()),
                 .interval = {.fixed_ns = stream.server_interval_ns(),
                              .distribution = context.DelayDistribution(
                                  stream.server_interval_distribution())}};
  plan.start = static_cast<StreamPlan::Start>(
      WordNumber(stream, StreamSpec::kResponseStartsFieldNumber));
  return plan;
}

// What retries and hedging have in common.
template <typename Attempts>
void SetAttempts(const Attempts& attempts, PolicyPlan& plan) {
  plan.max_attempts = attempts.max_attempts();
  if (attempts.has_budget()) plan.budget = attempts.budget();
}

PolicyPlan CompilePolicy(const CallPolicy& policy) {
  PolicyPlan plan = {.policy = policy};
  if (!policy.load_balancing().empty()) {
    plan.load_balancing = static_cast<LoadBalancing>(
        WordNumber(policy, CallPolicy::kLoadBalancingFieldNumber));
  }
  if (policy.has_attempt_deadline_ns()) {
    plan.attempt_deadline_ns = policy.attempt_deadline_ns();
  }
  if (policy.has_retry()) SetAttempts(policy.retry(), plan);
  if (policy.has_hedging()) SetAttempts(policy.hedging(), plan);
  return plan;
}

RpcPlan CompileRpc(const CompileContext& context, const RpcSpec& rpc) {
  const TestNames& names = context.names();
  RpcPlan plan;
  plan.name = rpc.name();
  for (const std::string& client : rpc.client()) {
    plan.client_services.push_back(names.services.Find(client));
  }
  plan.server_service = names.services.Find(rpc.server());
  plan.handler_list = names.lists.Find(rpc.name());
  plan.fanout = ParseFanoutFilter(rpc.fanout_filter()).value();
  plan.request =
      context.PayloadSize(rpc.request_payload_name(), kDefaultRequestBytes);
  plan.response =
      context.PayloadSize(rpc.response_payload_name(), kDefaultResponseBytes);
  plan.joint_distribution =
      context.JointDistribution(rpc.distribution_config_name());
  plan.tracing_interval = rpc.tracing_interval();
  plan.multi_server_channel =
      ChannelIndex(context.test().services(plan.server_service),
                   rpc.multi_server_channel_name());
  if (rpc.has_deadline_us())
    plan.deadline_ns = base::kNsPerUs * rpc.deadline_us();
  if (rpc.has_stream()) plan.stream = CompileStream(context, rpc.stream());
  if (rpc.has_policy()) plan.policy = CompilePolicy(rpc.policy());
  plan.is_special = plan.stream.has_value() || plan.policy.has_value();
  // An iteration sends one request, and its attempts choose their servers among
  // all candidates.
  if (plan.policy.has_value() && plan.policy->load_balancing.has_value()) {
    plan.fanout.kind = FanoutPlan::Kind::kRandom;
  }
  return plan;
}

// ---- Activities and replays -------------------------------------------------

ActivityPlan CompileActivity(const CompileContext& context,
                             const ActivityConfig& config) {
  ActivityPlan plan;
  plan.name = config.name();
  if (!config.pool_name().empty()) {
    plan.pool = context.names().activity_pools.Find(config.pool_name());
  }
  plan.function = ActivityFunctionOf(config);
  plan.settings = ResolveSettings(config.activity_settings(),
                                  FindActivity(plan.function)->settings);
  return plan;
}

ReplayRecordPlan::Base BaseOf(const RpcReplayTraceRecord& record, bool waits) {
  switch (record.timing_mode()) {
    case RpcReplayTraceRecord::RELATIVE_TO_TRAFFIC_START:
      return ReplayRecordPlan::Base::kTrafficStart;
    case RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_START:
      if (waits) return ReplayRecordPlan::Base::kPriorStart;
      break;
    case RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_END:
      if (waits) return ReplayRecordPlan::Base::kPriorEnd;
      break;
    case RpcReplayTraceRecord::RELATIVE_TO_TRACE_START:
    case RpcReplayTraceRecord::UNKNOWN:
      break;
  }
  // This includes a first record, which has no earlier record to wait for.
  return ReplayRecordPlan::Base::kTraceStart;
}

ReplayRecordPlan CompileRecord(const RpcReplayTrace& trace, int index,
                               const ServiceSpec& server) {
  const RpcReplayTraceRecord record = CompleteRecord(trace, index);
  ReplayRecordPlan plan;
  plan.offset_ns = record.timing_ns();
  plan.prior_records = PriorRecords(record, index);
  plan.base = BaseOf(record, !plan.prior_records.empty());
  if (record.has_client_instance()) {
    plan.client_instance = record.client_instance();
  }
  plan.server_instance = record.server_instance();
  if (record.has_multi_server_channel_name_index()) {
    plan.multi_server_channel =
        ChannelIndex(server, trace.multiserver_channel_names(
                                 record.multi_server_channel_name_index()));
  }
  plan.request_bytes =
      record.has_request_size() ? record.request_size() : kDefaultRequestBytes;
  plan.response_bytes = record.has_response_size() ? record.response_size()
                                                   : kDefaultResponseBytes;
  plan.processing_ns = record.server_processing_time_ns();
  return plan;
}

ReplayTracePlan CompileTrace(const CompileContext& context,
                             const RpcReplayTrace& trace) {
  ReplayTracePlan plan;
  plan.name = trace.name();
  plan.client_service = context.names().services.Find(trace.client());
  plan.server_service = context.names().services.Find(trace.server());
  const ServiceSpec& server = context.test().services(plan.server_service);
  for (int i = 0; i < trace.records_size(); ++i) {
    plan.records.push_back(CompileRecord(trace, i, server));
  }
  return plan;
}

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
    case Action::kReceiveRpcName:
      plan.kind = ActionPlan::Kind::kReceive;
      plan.target = names.rpcs.Find(action.receive_rpc_name());
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

// Where the iterations of each action are recorded, if they are.
void SetRecords(Plan& plan) {
  absl::flat_hash_map<std::string, int> records;
  for (const std::string& name : plan.recorded_actions) {
    records.try_emplace(name, static_cast<int>(records.size()));
  }
  for (ListPlan& list : plan.lists) {
    for (ActionPlan& action : list.actions) {
      const auto found = records.find(action.name);
      if (found != records.end()) action.record = found->second;
    }
  }
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

WireTimeOptions CompileWireTime(const DistributedSystemDescription& test) {
  if (!test.has_measure_wire_time()) return {};
  const WireTimeSpec& spec = test.measure_wire_time();
  return {.share = spec.share(),
          .clock = static_cast<WireClock>(
              WordNumber(spec, WireTimeSpec::kClockFieldNumber))};
}

}  // namespace

Plan Compile(const DistributedSystemDescription& test) {
  const CompileContext context(test);
  Plan plan;
  plan.test_name = test.name();
  plan.seed = test.random_seed();
  plan.timeout_ns = base::kNsPerSecond * TestTimeoutSeconds(test).value();
  plan.workers_per_instance = test.workers_per_instance();
  const OverloadLimits& limits = test.overload_limits();
  plan.max_threads = limits.max_threads();
  plan.max_pending_rpcs = limits.max_pending_rpcs();
  plan.max_pending_work = limits.has_max_pending_work()
                              ? limits.max_pending_work()
                              : limits.max_pending_rpcs();
  plan.max_memory_bytes = limits.max_memory_bytes();
  plan.sample_memory_bytes = test.sample_memory_bytes();
  plan.recording_memory_bytes = test.recording_memory_bytes();
  plan.measures_time_parts = test.measure_time_parts();
  plan.wire_time = CompileWireTime(test);
  CompileServices(context, plan);
  plan.rpcs = CompileAll(context, test.rpc_descriptions(), CompileRpc);
  plan.lists = CompileAll(context, test.action_lists(), CompileList);
  plan.recorded_actions = context.RecordedActions();
  SetRecords(plan);
  plan.distributions = context.MakeDistributions();
  plan.size_tables = context.MakeSizeTables();
  for (const ActivityPoolSpec& pool : test.activity_pools()) {
    plan.activity_pools.push_back({.name = pool.name(), .size = pool.size()});
  }
  plan.activities =
      CompileAll(context, test.activity_configs(), CompileActivity);
  plan.replay_traces =
      CompileAll(context, test.rpc_replay_traces(), CompileTrace);
  plan.faults = CompileAll(context, test.server_faults(), CompileFault);
  return plan;
}

}  // namespace distbench::config
