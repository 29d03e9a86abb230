// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The part of the generator that describes services and what they send.

#include "distbench/engine/property_testing/traffic_generator.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/testing/random_drivers.h"
#include "distbench/engine/property_testing/random_parts.h"

namespace distbench::engine {
namespace {

constexpr int64_t kLongDelayNs = 5'000'000'000;  // needs more than 32 bits
constexpr int kMaxInstances = 8;                 // per service

constexpr char kAxes[] = {'x', 'y', 'z'};

// The number of axes in the names of a service's instances.
int Dimensions(const ServiceSpec& service) {
  return service.has_z_size() ? 3 : service.has_y_size() ? 2 : 1;
}

}  // namespace

GeneratedTest TrafficGenerator::Generate() {
  may_be_endless_ = random_.Chance(0.15);
  AddSettings();
  AddServices();
  config::DrawDrivers("loopback", random_, test_);
  AddPlacement();
  AddDistributions();
  AddPayloads();
  AddActivities();
  AddRpcs();
  if (features_.multi_server_channels) AddChannels();
  if (features_.replay) AddReplayTraces();
  AddLists();
  if (random_.Chance(0.2)) AddFaults();
  if (random_.Chance(0.2)) AddAdmission();
  WriteSomeWithUnits(random_, test_);
  return std::move(generated_);
}

void TrafficGenerator::AddSettings() {
  test_.set_random_seed(random_.Between(0, 1'000'000));
  if (random_.Chance(0.5)) test_.set_name("generated");
  (*test_.mutable_attributes())["test_timeout"] =
      absl::StrCat(random_.Between(1, 2));
  if (random_.Chance(0.4)) {
    test_.set_workers_per_instance(static_cast<int32_t>(random_.Between(1, 3)));
  }
  if (random_.Chance(0.2)) {
    const int64_t bytes = random_.OneOf<int64_t>({0, 1'000, 1 << 20});
    test_.set_sample_memory_bytes(bytes);
    test_.set_recording_memory_bytes(bytes);
  }
  if (random_.Chance(0.2)) test_.set_delay_actions_by_spinning(true);
  // Ends tests that chance may let grow.
  const auto most_rpcs = random_.OneOf<int64_t>({20, 500, 3'000});
  test_.mutable_overload_limits()->set_max_pending_rpcs(most_rpcs);
  if (most_rpcs == 500) {
    test_.mutable_overload_limits()->set_max_pending_work(200);
  }
  if (random_.Chance(0.2)) test_.mutable_overload_limits()->set_max_threads(50);
  if (random_.Chance(0.2)) {
    test_.mutable_overload_limits()->set_max_memory_bytes(int64_t{1} << 40);
  }
  if (random_.Chance(0.3)) test_.set_measure_time_parts(true);
  if (random_.Chance(0.1)) {
    HostRequirements& requirements = *test_.mutable_requirements();
    requirements.set_strict(random_.Chance(0.5));
    NamedSetting& fact = *requirements.add_facts();
    fact.set_name("min_cpus");
    fact.set_int64_value(1);
  }
}

void TrafficGenerator::AddServices() {
  const int count = static_cast<int>(random_.Between(1, 4));
  for (int i = 0; i < count; ++i) {
    ServiceSpec& service = *test_.add_services();
    service.set_name(absl::StrCat("service", i));
    if (random_.Chance(0.1)) {
      *service.mutable_numa_binding() = AnyBinding(random_);
    }
    const int64_t dimensions = random_.Between(0, 3);
    if (dimensions == 0 || random_.Chance(0.1)) {
      service.set_count(static_cast<int32_t>(random_.Between(1, 6)));
      if (random_.Chance(0.3)) service.set_x_size(service.count());
      continue;
    }
    service.set_x_size(static_cast<int32_t>(random_.Between(1, 3)));
    if (dimensions > 1) {
      service.set_y_size(static_cast<int32_t>(random_.Between(1, 3)));
    }
    if (dimensions > 2) {
      service.set_z_size(static_cast<int32_t>(random_.Between(
          1, kMaxInstances / (service.x_size() * service.y_size()) + 1)));
    }
  }
}

int TrafficGenerator::InstanceCount(int service) const {
  const ServiceSpec& spec = test_.services(service);
  return spec.has_x_size() ? spec.x_size() * spec.y_size() * spec.z_size()
                           : spec.count();
}

int TrafficGenerator::ServiceNumber(const std::string& name) const {
  int number = 0;
  while (test_.services(number).name() != name) ++number;
  return number;
}

std::string TrafficGenerator::AnyInstance() {
  const ServiceSpec& service = test_.services(
      static_cast<int>(random_.Between(0, test_.services_size() - 1)));
  if (!service.has_x_size()) {
    return absl::StrCat(service.name(), "/",
                        random_.Between(0, service.count() - 1));
  }
  std::string name = absl::StrCat(service.name(), "/",
                                  random_.Between(0, service.x_size() - 1));
  if (service.has_y_size()) {
    absl::StrAppend(&name, "/", random_.Between(0, service.y_size() - 1));
  }
  if (service.has_z_size()) {
    absl::StrAppend(&name, "/", random_.Between(0, service.z_size() - 1));
  }
  return name;
}

void TrafficGenerator::AddPlacement() {
  std::set<std::string> bundled;
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    const std::string instance = AnyInstance();
    if (!bundled.insert(instance).second) continue;
    (*test_.mutable_node_service_bundles())[absl::StrCat("node",
                                                         random_.Between(0, 2))]
        .add_services(instance);
  }
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    std::string key = AnyInstance();
    if (random_.Chance(0.5)) key.back() = '*';
    (*test_.mutable_service_constraints())[key] =
        AnyConstraints({"rack", "slot", "node_alias"}, random_);
  }
}

void TrafficGenerator::AddDistributions() {
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    *test_.add_size_distribution_configs() = AnyDistribution(
        absl::StrCat("sizes", i), {"payload_size"}, kMaxSizeBytes, random_);
    *test_.add_delay_distribution_configs() = AnyDistribution(
        absl::StrCat("delays", i), {"action_delay_ns"},
        random_.OneOf<int64_t>({1'000, 10'000'000, kLongDelayNs}), random_);
    std::vector<std::string> fields = {"payload_size"};
    if (random_.Chance(0.6)) {
      fields = {"request_payload_size", "response_payload_size"};
      if (random_.Chance(0.5)) std::swap(fields[0], fields[1]);
    }
    *test_.add_distribution_config() = AnyDistribution(
        absl::StrCat("joint", i), fields, kMaxSizeBytes, random_);
  }
}

void TrafficGenerator::AddPayloads() {
  for (int64_t i = random_.Between(0, 3); i > 0; --i) {
    PayloadSpec& payload = *test_.add_payload_descriptions();
    payload.set_name(absl::StrCat("payload", i));
    if (random_.Chance(0.1)) payload.add_attributes("kept");
    const int drawn = test_.size_distribution_configs_size();
    if (drawn > 0 && random_.Chance(0.5)) {
      payload.set_size_distribution_name(
          test_
              .size_distribution_configs(
                  static_cast<int>(random_.Between(0, drawn - 1)))
              .name());
    } else if (random_.Chance(0.01)) {
      payload.add_sizes_by_instance(random_.Between(1, 1'000));
      payload.add_sizes_by_instance(random_.Between(1, 1'000));
    } else {
      payload.set_size(random_.OneOf<int64_t>({0, 1, 127, 128, 100'000}));
    }
  }
}

std::string TrafficGenerator::PayloadOrNone() {
  const int64_t choice = random_.Between(0, test_.payload_descriptions_size());
  return choice == 0
             ? ""
             : test_.payload_descriptions(static_cast<int>(choice - 1)).name();
}

void TrafficGenerator::AddActivities() {
  for (int64_t i = random_.Between(0, 3); i > 0; --i) {
    ActivityConfig& activity = *test_.add_activity_configs();
    activity.set_name(absl::StrCat("activity", i));
    auto& settings = *activity.mutable_activity_settings();
    const std::string function = AnyActivityFunction(random_);
    *settings.Add() = MakeSetting("activity_func", function);
    if (random_.Chance(0.3)) activity.set_pool_name(AnyPool());
    for (const NamedSetting& setting : AnySettingsOf(function, random_)) {
      *settings.Add() = setting;
    }
  }
}

// Returns an existing pool or a new one.
std::string TrafficGenerator::AnyPool() {
  const int count = test_.activity_pools_size();
  if (count > 0 && random_.Chance(0.5)) {
    return test_.activity_pools(static_cast<int>(random_.Between(0, count - 1)))
        .name();
  }
  ActivityPoolSpec& pool = *test_.add_activity_pools();
  pool.set_name(absl::StrCat("pool", count));
  pool.set_size(static_cast<int32_t>(random_.Between(1, 3)));
  return pool.name();
}

void TrafficGenerator::AddRpcs() {
  for (int64_t i = random_.Between(1, 5); i > 0; --i) {
    RpcSpec& rpc = *test_.add_rpc_descriptions();
    rpc.set_name(absl::StrCat("rpc", test_.rpc_descriptions_size() - 1));
    ChooseServices(rpc);
    ChooseSizes(rpc);
    if (random_.Chance(0.9)) rpc.set_fanout_filter(AnyFanoutFilter(rpc));
    if (random_.Chance(0.3)) {
      rpc.set_tracing_interval(static_cast<int32_t>(random_.Between(0, 3)));
    }
    if (random_.Chance(0.2)) {
      rpc.set_deadline_us(random_.OneOf<int64_t>({1, 100, 50'000}));
    }
    if (MayStream() && !rpc.has_distribution_config_name() &&
        random_.Chance(0.5)) {
      AddStream(rpc);
    } else if (random_.Chance(0.3)) {
      AddPolicy(rpc);
    }
  }
}

void TrafficGenerator::ChooseServices(RpcSpec& rpc) {
  const int last = test_.services_size() - 1;
  std::set<int64_t> clients;
  for (int64_t i = random_.Between(1, 2); i > 0; --i) {
    clients.insert(random_.Between(0, last));
  }
  for (const int64_t client : clients) {
    rpc.add_client(test_.services(static_cast<int>(client)).name());
  }
  rpc.set_server(
      test_.services(static_cast<int>(random_.Between(0, last))).name());
}

void TrafficGenerator::ChooseSizes(RpcSpec& rpc) {
  if (const std::string name = PayloadOrNone(); !name.empty()) {
    rpc.set_request_payload_name(name);
  }
  if (const std::string name = PayloadOrNone(); !name.empty()) {
    rpc.set_response_payload_name(name);
  }
  const int joint = test_.distribution_config_size();
  if (joint > 0 && random_.Chance(0.3)) {
    rpc.set_distribution_config_name(test_
                                         .distribution_config(static_cast<int>(
                                             random_.Between(0, joint - 1)))
                                         .name());
  }
}

// Returns a filter for which all services of the RPC have the axes.
std::string TrafficGenerator::AnyFanoutFilter(const RpcSpec& rpc) {
  const int server = ServiceNumber(rpc.server());
  int axes = Dimensions(test_.services(server));
  bool among_peers = false;
  for (const std::string& client : rpc.client()) {
    axes = std::min(axes, Dimensions(test_.services(ServiceNumber(client))));
    among_peers |= client == rpc.server();
  }
  std::vector<std::string> filters = {
      "all", "random", "random_single", "round_robin",
      StochasticFilter(InstanceCount(server) - (among_peers ? 1 : 0), random_)};
  for (int axis = 0; axis < axes; ++axis) {
    const std::string name(1, kAxes[axis]);
    for (const char* kind : {"same_", "ring_", "alternating_ring_"}) {
      // The deciding axis must exist too.
      filters.push_back(kind + name);
    }
    filters.push_back(
        absl::StrCat("linear_", name, "{", random_.Between(-2, 2), "}"));
  }
  if (axes > 1) filters.push_back("same_xy");
  if (axes > 2) {
    filters.insert(filters.end(), {"same_xz", "same_yz", "same_xyz"});
  }
  return random_.OneOf(filters);
}

void TrafficGenerator::AddChannels() {
  for (RpcSpec& rpc : *test_.mutable_rpc_descriptions()) {
    if (rpc.has_stream() || rpc.policy().has_load_balancing() ||
        !random_.Chance(0.3)) {
      continue;
    }
    const int server = ServiceNumber(rpc.server());
    ServiceSpec& service = *test_.mutable_services(server);
    MultiServerChannel& channel = *service.add_multi_server_channels();
    channel.set_name(
        absl::StrCat("channel", service.multi_server_channels_size()));
    channel.add_selected_instances(
        static_cast<int32_t>(random_.Between(0, InstanceCount(server) - 1)));
    if (random_.Chance(0.5)) {
      *channel.mutable_constraints() = AnyConstraints(
          {Dimensions(service) == 1 ? "index" : "x_index"}, random_);
    }
    if (random_.Chance(0.5)) {
      *channel.add_channel_settings() = MakeSetting("policy", "round_robin");
    }
    rpc.set_multi_server_channel_name(channel.name());
  }
}

void TrafficGenerator::AddReplayTraces() {
  const int last = test_.services_size() - 1;
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    RpcReplayTrace& trace = *test_.add_rpc_replay_traces();
    trace.set_name(absl::StrCat("trace", i));
    const auto server = static_cast<int>(random_.Between(0, last));
    trace.set_client(
        test_.services(static_cast<int>(random_.Between(0, last))).name());
    trace.set_server(test_.services(server).name());
    if (random_.Chance(0.5)) trace.mutable_defaults()->set_request_size(100);
    for (const MultiServerChannel& channel :
         test_.services(server).multi_server_channels()) {
      trace.add_multiserver_channel_names(channel.name());
    }
    // Records can only wait for records that the same instance sends.
    if (random_.Chance(0.3)) {
      trace.mutable_defaults()->set_client_instance(
          static_cast<int32_t>(random_.Between(
              0, InstanceCount(ServiceNumber(trace.client())) - 1)));
    }
    const int64_t records = random_.Between(1, 8);
    for (int64_t j = 0; j < records; ++j) {
      *trace.add_records() = AnyReplayRecord(
          static_cast<int>(j), trace.multiserver_channel_names_size(),
          InstanceCount(server), random_);
    }
  }
}

// The policies of callers of the traffic generator.

namespace {

// Attempts of a request: few, because they multiply the work.
constexpr int64_t kMostAttempts = 3;

void FillBudget(fuzzing::RandomSource& random, RetryBudget& budget) {
  if (random.Chance(0.5)) budget.set_ratio(random.OneOf({0.0, 0.1, 1.0}));
  if (random.Chance(0.5)) {
    budget.set_min_per_second(random.OneOf({0.0, 0.5, 100.0}));
  }
  if (random.Chance(0.5)) {
    budget.set_window_ns(random.OneOf<int64_t>({1, 1'000'000'000}));
  }
}

void FillRetry(fuzzing::RandomSource& random, RetryPolicy& retry) {
  retry.set_max_attempts(
      static_cast<int32_t>(random.Between(2, kMostAttempts)));
  if (random.Chance(0.7)) {
    retry.set_initial_backoff_ns(random.OneOf<int64_t>({0, 1, 5'000'000}));
  }
  if (random.Chance(0.5)) {
    retry.set_max_backoff_ns(
        random.OneOf<int64_t>({10'000'000, 2'000'000'000}));
  }
  if (random.Chance(0.3)) retry.set_multiplier(random.OneOf({1.0, 1.5, 3.0}));
  if (random.Chance(0.5)) {
    retry.set_jitter(random.OneOf<std::string>({"none", "equal", "full", ""}));
  }
  if (random.Chance(0.3)) {
    retry.add_codes("DEADLINE_EXCEEDED");
    retry.add_codes("RESOURCE_EXHAUSTED");
  }
  if (random.Chance(0.4)) FillBudget(random, *retry.mutable_budget());
}

void FillHedging(fuzzing::RandomSource& random, HedgingPolicy& hedging) {
  hedging.set_max_attempts(
      static_cast<int32_t>(random.Between(2, kMostAttempts)));
  if (random.Chance(0.6)) {
    hedging.set_delay_ns(random.OneOf<int64_t>({0, 1, 2'000'000}));
  } else {
    hedging.set_percentile(random.OneOf({1.0, 50.0, 99.9}));
  }
  if (random.Chance(0.3)) FillBudget(random, *hedging.mutable_budget());
}

void FillCircuitBreaker(fuzzing::RandomSource& random,
                        CircuitBreakerPolicy& breaker) {
  if (random.Chance(0.7)) breaker.set_failure_ratio(random.OneOf({0.01, 1.0}));
  breaker.set_min_attempts(static_cast<int32_t>(random.Between(1, 5)));
  if (random.Chance(0.5)) {
    breaker.set_window_ns(random.OneOf<int64_t>({1, 1'000'000'000}));
  }
  if (random.Chance(0.5)) {
    breaker.set_open_ns(random.OneOf<int64_t>({1, 3'000'000}));
  }
}

void FillLimit(fuzzing::RandomSource& random, ConcurrencyLimitPolicy& limit) {
  limit.set_limit(static_cast<int32_t>(random.Between(1, 5)));
  if (random.Chance(0.3)) return;
  limit.set_kind(random.OneOf<std::string>({"aimd", "gradient"}));
  if (random.Chance(0.5)) limit.set_min_limit(1);
  if (random.Chance(0.5)) limit.set_max_limit(10);
  if (limit.kind() == "aimd") limit.set_backoff_ratio(0.5);
}

}  // namespace

void TrafficGenerator::AddPolicy(RpcSpec& rpc) {
  CallPolicy& policy = *rpc.mutable_policy();
  if (random_.Chance(0.3)) {
    rpc.clear_fanout_filter();
    policy.set_load_balancing(random_.OneOf<std::string>(
        {"round_robin", "random", "two_choices", "least_in_flight"}));
  } else if (InstanceCount(ServiceNumber(rpc.server())) > 1 &&
             random_.Chance(0.5)) {
    rpc.clear_fanout_filter();
    QuorumPolicy& quorum = *policy.mutable_quorum();
    quorum.set_answers(1);
    if (random_.Chance(0.6)) {
      quorum.set_rest(random_.OneOf<std::string>({"ignore", "cancel"}));
    }
  }
  if (random_.Chance(0.3)) {
    policy.set_attempt_deadline_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  }
  if (random_.Chance(0.4)) {
    FillRetry(random_, *policy.mutable_retry());
  } else if (random_.Chance(0.6)) {
    FillHedging(random_, *policy.mutable_hedging());
  }
  if (random_.Chance(0.3)) {
    FillCircuitBreaker(random_, *policy.mutable_circuit_breaker());
  }
  if (random_.Chance(0.3)) {
    FillLimit(random_, *policy.mutable_concurrency_limit());
  }
}

// The RPCs that stream of the traffic generator.

namespace {

constexpr char kMessageCounts[] = "message_counts";
constexpr char kMessageIntervals[] = "message_intervals";

}  // namespace

// Decorators do not stream.
bool TrafficGenerator::MayStream() const {
  for (const ProtocolDriverOptions& options : test_.protocol_driver_options()) {
    if (options.protocol_name() != "loopback") return false;
  }
  return test_.default_protocol() == "loopback";
}

// Of few messages, so that RPCs that stream take about as long as others.
void TrafficGenerator::AddStream(RpcSpec& rpc) {
  AddStreamDistributions();
  StreamSpec& stream = *rpc.mutable_stream();
  switch (random_.Between(0, 2)) {
    case 0:
      stream.set_client_messages(random_.Between(1, 4));
      break;
    case 1:
      stream.set_client_messages_distribution(kMessageCounts);
      break;
    default:
      break;
  }
  if (random_.Chance(0.3)) {
    stream.set_client_interval_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  } else if (random_.Chance(0.2)) {
    stream.set_client_interval_distribution(kMessageIntervals);
  }
  if (random_.Chance(0.3)) {
    stream.set_response_starts("echo");
    return;
  }
  if (random_.Chance(0.4)) stream.set_response_starts("on_last_request");
  if (random_.Chance(0.4)) {
    stream.set_server_messages(random_.Between(1, 4));
  } else if (random_.Chance(0.5)) {
    stream.set_server_messages_distribution(kMessageCounts);
  }
  if (random_.Chance(0.3)) {
    stream.set_server_interval_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  } else if (random_.Chance(0.3)) {
    stream.set_server_interval_distribution(kMessageIntervals);
  }
}

void TrafficGenerator::AddStreamDistributions() {
  for (const DistributionConfig& sizes : test_.size_distribution_configs()) {
    if (sizes.name() == kMessageCounts) return;
  }
  const auto fill = [](const char* name, int64_t most,
                       DistributionConfig& distribution) {
    distribution.set_name(name);
    PmfPoint& point = *distribution.add_pmf_points();
    point.set_pmf(1);
    point.add_data_points()->set_lower(0);
    point.mutable_data_points(0)->set_upper(most);
  };
  fill(kMessageCounts, 3, *test_.add_size_distribution_configs());
  fill(kMessageIntervals, 3'000'000, *test_.add_delay_distribution_configs());
}

// The faults of servers of the traffic generator, and admission.

namespace {

// Times of faults: within the two seconds that tests last at most, or beyond.
constexpr int64_t kSoonNs = 5'000'000;
constexpr int64_t kLateNs = 10'000'000'000;

void FillTimes(fuzzing::RandomSource& random, ServerFault& fault) {
  if (random.Chance(0.6)) {
    fault.set_start_ns(random.OneOf<int64_t>({0, kSoonNs, kLateNs}));
  }
  if (fault.reset_connections()) {
    if (random.Chance(0.5)) fault.set_repeat_ns(kSoonNs);
    return;
  }
  if (!fault.freeze() && random.Chance(0.3)) return;
  fault.set_duration_ns(random.OneOf<int64_t>({1, kSoonNs}));
  // A server that stands still half of the time still gets on.
  if (random.Chance(0.5)) fault.set_repeat_ns(3 * kSoonNs);
}

}  // namespace

bool TrafficGenerator::Streams(const ServiceSpec& service) const {
  return std::any_of(test_.rpc_descriptions().begin(),
                     test_.rpc_descriptions().end(), [&](const RpcSpec& rpc) {
                       return rpc.server() == service.name() &&
                              rpc.has_stream();
                     });
}

// What happens to single requests is not for streams.
void TrafficGenerator::ChooseFault(ServerFault& fault, bool streams) {
  switch (random_.Between(streams ? 3 : 0, 4)) {
    case 0:
      fault.set_error_code("UNAVAILABLE");
      break;
    case 1:
      fault.set_extra_latency("3ms");
      break;
    case 2:
      if (test_.delay_distribution_configs().empty()) {
        fault.set_extra_latency("1ns");
      } else {
        fault.set_extra_latency_distribution(
            test_.delay_distribution_configs(0).name());
      }
      break;
    case 3:
      fault.set_freeze(true);
      return;
    default:
      fault.set_reset_connections(true);
      return;
  }
  if (random_.Chance(0.5)) fault.set_probability(0.3);
  for (const RpcSpec& rpc : test_.rpc_descriptions()) {
    if (rpc.server() != fault.service() || !random_.Chance(0.5)) continue;
    fault.set_rpc_name(rpc.name());
    break;
  }
}

void TrafficGenerator::AddFaults() {
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    const int number =
        static_cast<int>(random_.Between(0, test_.services_size() - 1));
    ServerFault& fault = *test_.add_server_faults();
    fault.set_name(absl::StrCat("fault", i));
    fault.set_service(test_.services(number).name());
    if (random_.Chance(0.3)) {
      fault.add_instances(
          static_cast<int32_t>(random_.Between(0, InstanceCount(number) - 1)));
    }
    ChooseFault(fault, Streams(test_.services(number)));
    FillTimes(random_, fault);
  }
}

// Handlers that call their own service may wait for each other forever.
void TrafficGenerator::AddAdmission() {
  for (ServiceSpec& service : *test_.mutable_services()) {
    if (Streams(service) || !random_.Chance(0.3)) continue;
    AdmissionSpec& admission = *service.mutable_admission();
    admission.set_max_running(static_cast<int32_t>(random_.Between(3, 6)));
    if (random_.Chance(0.7)) {
      admission.set_max_waiting(static_cast<int32_t>(random_.Between(0, 4)));
      if (admission.max_waiting() > 0) {
        admission.set_refuse(random_.OneOf<std::string>({"newest", "oldest"}));
      }
    }
    if (admission.max_waiting() > 0 || !admission.has_max_waiting()) {
      generated_.ends_by_itself = false;
    }
  }
}

}  // namespace distbench::engine
