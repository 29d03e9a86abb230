#include "distbench/config/compile/compile.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/compile/compile_context.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/traffic.h"

namespace distbench::config {
namespace {

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
  CompileServices(context, plan);
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    plan.rpcs.push_back(CompileRpc(context, rpc));
  }
  plan.lists = CompileLists(context);
  plan.distributions = context.MakeDistributions();
  for (const ActivityPoolSpec& pool : test.activity_pools()) {
    plan.activity_pools.push_back({.name = pool.name(), .size = pool.size()});
  }
  for (const ActivityConfig& config : test.activity_configs()) {
    plan.activities.push_back(CompileActivity(context, config));
  }
  for (const RpcReplayTrace& trace : test.rpc_replay_traces()) {
    plan.replay_traces.push_back(CompileTrace(context, trace));
  }
  plan.faults = CompileFaults(context);
  return plan;
}

}  // namespace distbench::config
