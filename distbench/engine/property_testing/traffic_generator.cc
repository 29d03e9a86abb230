// The part of the generator that describes services and what they send.

#include "distbench/engine/property_testing/traffic_generator.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "distbench/config/testing/random_drivers.h"
#include "distbench/engine/property_testing/random_parts.h"
#include "distbench/engine/property_testing/random_units.h"

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
  test_.mutable_overload_limits()->set_max_pending_rpcs(
      random_.OneOf<int64_t>({20, 500, 3'000}));
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

}  // namespace distbench::engine
