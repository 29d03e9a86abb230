// The part of the generator that describes who takes part, and what they say.

#include "distbench/engine/property/traffic_generator.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

constexpr int64_t kMaxSizeBytes = 200'000;
constexpr int64_t kLongDelayNs = 5'000'000'000;  // needs more than 32 bits
constexpr int kMaxInstances = 8;                 // of a service

constexpr char kAxes[] = {'x', 'y', 'z'};

// How many axes the names of a service's instances show.
int Dimensions(const ServiceSpec& service) {
  return service.has_z_size() ? 3 : service.has_y_size() ? 2 : 1;
}

NamedSetting Setting(const std::string& name, const std::string& value) {
  NamedSetting setting;
  setting.set_name(name);
  setting.set_string_value(value);
  return setting;
}

NamedSetting Setting(const std::string& name, int64_t value) {
  NamedSetting setting;
  setting.set_name(name);
  setting.set_int64_value(value);
  return setting;
}

}  // namespace

GeneratedTest TrafficGenerator::Generate() {
  may_be_endless_ = random_.Chance(0.15);
  AddSettings();
  AddServices();
  AddDrivers();
  AddPlacement();
  AddDistributions();
  AddPayloads();
  AddActivities();
  AddRpcs();
  if (features_.multi_server_channels) AddChannels();
  if (features_.replay) AddReplayTraces();
  AddLists();
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
    test_.set_sample_memory_bytes(random_.OneOf<int64_t>({0, 1'000, 1 << 20}));
  }
  if (random_.Chance(0.2)) test_.set_delay_actions_by_spinning(true);
  // Tests that chance may let grow end by this.
  test_.mutable_overload_limits()->set_max_pending_rpcs(
      random_.OneOf<int64_t>({20, 500, 3'000}));
  if (random_.Chance(0.2)) test_.mutable_overload_limits()->set_max_threads(50);
  if (random_.Chance(0.2)) {
    test_.mutable_overload_limits()->set_max_memory_bytes(int64_t{1} << 40);
  }
}

void TrafficGenerator::AddServices() {
  const int count = static_cast<int>(random_.Between(1, 4));
  for (int i = 0; i < count; ++i) {
    ServiceSpec& service = *test_.add_services();
    service.set_name(absl::StrCat("service", i));
    if (random_.Chance(0.1)) *service.mutable_numa_binding() = AnyBinding();
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

void TrafficGenerator::AddDrivers() {
  if (random_.Chance(0.5)) {
    test_.set_default_protocol("loopback");
    return;
  }
  ProtocolDriverOptions& standard = *test_.add_protocol_driver_options();
  standard.set_name("default_protocol_driver_options");
  if (random_.Chance(0.5)) {
    standard.set_protocol_name("loopback");
  } else {
    standard.set_protocol_name("other");
    ProtocolDriverOptions& other = *test_.add_protocol_driver_options();
    other.set_name("other");
    other.set_protocol_name("loopback");
    test_.mutable_services(0)->set_protocol_driver_options_name("other");
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
        AnyConstraints({"rack", "slot", "node_alias"});
  }
}

ConstraintList TrafficGenerator::AnyConstraints(
    const std::vector<std::string>& attributes) {
  ConstraintList list;
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    ConstraintSet& set = *list.add_constraint_sets();
    for (int64_t j = random_.Between(1, 2); j > 0; --j) {
      Constraint& constraint = *set.add_constraints();
      constraint.set_attribute_name(random_.OneOf(attributes));
      constraint.set_relation(static_cast<Constraint::Relation>(
          random_.Between(Constraint::EQUAL, Constraint::MODULO_NOT_EQUAL)));
      if (constraint.relation() == Constraint::MODULO_EQUAL ||
          constraint.relation() == Constraint::MODULO_NOT_EQUAL) {
        constraint.set_modulus(random_.Between(1, 4));
        constraint.add_int64_values(
            random_.Between(0, constraint.modulus() - 1));
      } else if (random_.Chance(0.5)) {
        constraint.add_int64_values(random_.Between(-1, 3));
      } else {
        constraint.add_string_values("a");
      }
      if (constraint.relation() == Constraint::EQUAL) {
        constraint.add_string_values("b");
      }
    }
  }
  return list;
}

void TrafficGenerator::AddDistributions() {
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    *test_.add_size_distribution_configs() = AnyDistribution(
        absl::StrCat("sizes", i), {"payload_size"}, kMaxSizeBytes);
    *test_.add_delay_distribution_configs() = AnyDistribution(
        absl::StrCat("delays", i), {"action_delay_ns"},
        random_.OneOf<int64_t>({1'000, 10'000'000, kLongDelayNs}));
    std::vector<std::string> fields = {"payload_size"};
    if (random_.Chance(0.6)) {
      fields = {"request_payload_size", "response_payload_size"};
      if (random_.Chance(0.5)) std::swap(fields[0], fields[1]);
    }
    *test_.add_distribution_config() =
        AnyDistribution(absl::StrCat("joint", i), fields, kMaxSizeBytes);
  }
}

DistributionConfig TrafficGenerator::AnyDistribution(
    const std::string& name, const std::vector<std::string>& fields,
    int64_t max_value) {
  // Sums of these are exact.
  constexpr float kParts[] = {0.5f, 0.25f, 0.125f, 0.125f};
  DistributionConfig config;
  config.set_name(name);
  for (const std::string& field : fields) config.add_field_names(field);
  if (random_.Chance(0.5)) {
    int64_t value = random_.Between(0, max_value / 8);
    float sum = random_.Chance(0.5) ? 0.0f : kParts[3];
    for (const float part : {0.0f, kParts[0], kParts[1], 1.0f}) {
      sum = std::min(1.0f, sum + part);
      CdfPoint& point = *config.add_cdf_points();
      point.set_cdf(sum);
      point.set_value(value);
      value += 1 + random_.Between(0, max_value / 8);
    }
    return config;
  }
  const bool single = random_.Chance(0.3);
  for (const float part : kParts) {
    PmfPoint& point = *config.add_pmf_points();
    point.set_pmf(single ? 1.0f : part);
    for (size_t i = 0; i < fields.size(); ++i) {
      DataPoint& data = *point.add_data_points();
      if (random_.Chance(0.5)) {
        data.set_exact(random_.Between(0, max_value));
      } else {
        data.set_lower(random_.Between(0, max_value));
        data.set_upper(random_.Between(data.lower(), max_value));
      }
    }
    if (single) break;
  }
  return config;
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
    const std::string function = random_.OneOf<std::string>(
        {"ConsumeCpu", "PolluteDataCache", "PolluteInstructionCache",
         "SleepFor", "SpinFor", "Wait"});
    *settings.Add() = Setting("activity_func", function);
    if (random_.Chance(0.3)) activity.set_pool_name(AnyPool());
    if (function == "ConsumeCpu") {
      *settings.Add() = Setting("array_size", random_.Between(1, 50));
    } else if (function == "PolluteDataCache") {
      *settings.Add() = Setting("array_size", random_.Between(1, 1000));
      *settings.Add() =
          Setting("array_reads_per_iteration", random_.Between(1, 20));
    } else if (function == "PolluteInstructionCache") {
      *settings.Add() =
          Setting("function_invocations_per_iteration", random_.Between(1, 20));
    } else if (function == "SleepFor") {
      *settings.Add() = Setting("duration_us", random_.Between(1, 20'000));
    } else if (function == "Wait") {
      *settings.Add() = Setting("mean_us", random_.Between(1, 20'000));
      *settings.Add() = Setting(
          "distribution", random_.OneOf<std::string>(
                              {"fixed", "exponential", "lognormal"}));
    } else {
      // Burns real time.
      *settings.Add() = Setting("duration_us", random_.Between(1, 3));
    }
  }
}

// Of those that there are, or a new one.
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

// Engines do not look at it; nodes do.
NumaBinding TrafficGenerator::AnyBinding() {
  NumaBinding binding;
  if (random_.Chance(0.3)) binding.set_strict(random_.Chance(0.5));
  if (random_.Chance(0.3)) {
    binding.set_cpus("0-1,3");
    return binding;
  }
  binding.set_nodes("0");
  if (random_.Chance(0.5)) {
    binding.set_memory_policy(random_.OneOf<NumaBinding::MemoryPolicy>(
        {NumaBinding::BIND, NumaBinding::PREFERRED, NumaBinding::INTERLEAVE}));
    binding.set_memory_nodes("1");
  }
  if (random_.Chance(0.5)) {
    binding.set_spread(true);
    binding.set_instances_per_node(static_cast<int32_t>(random_.Between(1, 3)));
  }
  return binding;
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

// Any that all services of the RPC have the axes for.
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
      StochasticFilter(InstanceCount(server) - (among_peers ? 1 : 0))};
  for (int axis = 0; axis < axes; ++axis) {
    const std::string name(1, kAxes[axis]);
    for (const char* kind : {"same_", "ring_", "alternating_ring_"}) {
      // The axis that decides must be there, too.
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

std::string TrafficGenerator::StochasticFilter(int target_limit) {
  const int64_t few = random_.Between(0, target_limit);
  const int64_t many = random_.Between(0, target_limit);
  return random_.Chance(0.3)
             ? absl::StrCat("stochastic{1:", many, "}")
             : absl::StrCat("stochastic{0.7:", few, ",0.3:", many, "}");
}

void TrafficGenerator::AddChannels() {
  for (RpcSpec& rpc : *test_.mutable_rpc_descriptions()) {
    if (!random_.Chance(0.3)) continue;
    const int server = ServiceNumber(rpc.server());
    ServiceSpec& service = *test_.mutable_services(server);
    MultiServerChannel& channel = *service.add_multi_server_channels();
    channel.set_name(
        absl::StrCat("channel", service.multi_server_channels_size()));
    channel.add_selected_instances(
        static_cast<int32_t>(random_.Between(0, InstanceCount(server) - 1)));
    if (random_.Chance(0.5)) {
      *channel.mutable_constraints() =
          AnyConstraints({Dimensions(service) == 1 ? "index" : "x_index"});
    }
    if (random_.Chance(0.5)) {
      *channel.add_channel_settings() = Setting("policy", "round_robin");
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
    // Records wait for those that the same instance sends.
    if (random_.Chance(0.3)) {
      trace.mutable_defaults()->set_client_instance(
          static_cast<int32_t>(random_.Between(
              0, InstanceCount(ServiceNumber(trace.client())) - 1)));
    }
    const int64_t records = random_.Between(1, 8);
    for (int64_t j = 0; j < records; ++j) {
      RpcReplayTraceRecord& record = *trace.add_records();
      record.set_timing_ns(random_.Between(0, 10'000'000));
      if (random_.Chance(0.8)) {
        record.set_timing_mode(static_cast<RpcReplayTraceRecord::TimingMode>(
            random_.Between(1, j == 0 ? 2 : 4)));
      }
      if (record.timing_mode() >=
              RpcReplayTraceRecord::RELATIVE_TO_PRIOR_RPC_START &&
          random_.Chance(0.5)) {
        record.add_prior_rpc_distances(
            static_cast<int32_t>(random_.Between(0, j - 1)));
      }
      if (random_.Chance(0.3)) record.set_rpc_class(7);
      if (trace.multiserver_channel_names_size() > 0 && random_.Chance(0.3)) {
        record.set_multi_server_channel_name_index(static_cast<int32_t>(
            random_.Between(0, trace.multiserver_channel_names_size() - 1)));
      }
      record.set_server_instance(
          static_cast<int32_t>(random_.Between(0, InstanceCount(server) - 1)));
      record.set_response_size(
          static_cast<int32_t>(random_.Between(0, kMaxSizeBytes)));
      record.set_server_processing_time_ns(random_.Between(0, 1'000'000));
    }
  }
}

}  // namespace distbench
