#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/report/json/json_values.h"
#include "distbench/report/measurements/network_readings.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json ControlGroupsJson(const ControlGroupFacts& groups) {
  Json json = FieldsJson(groups, {"version"}, AbsentField::kDefault);
  json.update(FieldsJson(
      groups, {"delegated_path", "controllers", "problem", "io_cost_devices"}));
  return json;
}

Json DeviceJson(const NetworkDevice& device) {
  Json json = FieldsJson(device, {"name", "mtu"}, AbsentField::kDefault);
  json.update(FieldsJson(
      device, {"numa_node", "queueing_discipline", "interrupt_cpus"}));
  return json;
}

Json HostJson(const HostFacts& host) {
  Json json = FieldsJson(
      host, {"hostname", "kernel", "cpu_model", "cpu_count", "numa_node_count",
             "memory_bytes", "cpu_frequency_governor", "transparent_huge_pages",
             "is_smt_active", "is_cpu_boost_enabled", "tcp_congestion_control",
             "tcp_ecn_mode", "default_queueing_discipline"});
  json["network_devices"] = ListJson(host.network_devices(), DeviceJson);
  Json& numa_nodes = json["numa_nodes"] = Json::array();
  for (const NumaNode& node : host.topology().numa_nodes()) {
    numa_nodes.push_back(FieldsJson(node,
                                    {"id", "cpus", "memory_bytes", "distances"},
                                    AbsentField::kDefault));
  }
  json["control_groups"] = base::OrNull(
      host.has_control_groups(), ControlGroupsJson(host.control_groups()));
  json.update(FieldsJson(
      host, {"idle_driver", "idle_states", "mitigations",
             "hardware_counters_problem", "energy_problem",
             "libfabric_providers", "libfabric_problem", "versions"}));
  return json;
}

// Totals of the whole run, of the counters that `counters_of` finds in samples.
template <typename Counters>
Json CountersJson(const NodeResources& resources,
                  const Counters& (ResourceSample::*counters_of)() const) {
  Counters totals;
  for (const ResourceSample& sample : resources.samples()) {
    results::AddCounters((sample.*counters_of)(), totals);
  }
  return MessageJson(totals);
}

// Microjoules by domain.
Json EnergyJson(const NodeResources& resources) {
  std::map<std::string, int64_t> totals_uj;
  for (const ResourceSample& sample : resources.samples()) {
    for (const auto& [domain, used_uj] : sample.energy_uj()) {
      base::SaturatingAddTo(totals_uj[domain], used_uj);
    }
  }
  Json json = Json::object();
  for (const auto& [domain, used_uj] : totals_uj) json[domain] = used_uj;
  return json;
}

Json UsageJson(const RUsageStats& usage) {
  const RUsage& added = usage.rusage_diff();
  return {
      {"user_cpu_seconds", added.user_cpu_time_seconds()},
      {"system_cpu_seconds", added.system_cpu_time_seconds()},
      {"max_resident_kib",
       std::max(usage.rusage_start().max_resident_set_size(),
                added.max_resident_set_size())},
      {"voluntary_context_switches", added.voluntary_context_switches()},
      {"involuntary_context_switches", added.involuntary_context_switches()}};
}

Json NodeJson(const std::string& name) {
  return {{"name", name},
          {"host", nullptr},
          {"usage", nullptr},
          {"host_counters", nullptr},
          {"hardware_counters", nullptr},
          {"energy_uj", nullptr},
          {"clock_offset_ns", nullptr},
          {"clock_offset_error_ns", nullptr}};
}

}  // namespace

Json BindingsJson(const TestResult& result) {
  Json json = Json::array();
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const auto* proof : results::Sorted(node->second.binding_proofs())) {
      Json entry = {{"node", node->first}};
      entry.update(BindingProofJson(proof->first, proof->second));
      json.push_back(std::move(entry));
    }
  }
  return json;
}

Json NetworkSettingsJson(const TestResult& result) {
  const auto settings_json = [](const ServiceConnections& folded) -> Json {
    const NetworkSettingProof& proof = folded.connections;
    return {{"service", folded.service},
            {"accepted", proof.accepted()},
            {"connection_count", proof.connection_count()},
            {"total_count", folded.total_count},
            {"settings", MessageJson(proof)["settings"]},
            {"text", Describe(folded)}};
  };
  return ListJson(FoldNetworkSettings(result), settings_json);
}

Json NodesJson(const TestResult& result) {
  std::map<std::string, Json> nodes;
  const auto node = [&](const std::string& name) -> Json& {
    return nodes.try_emplace(name, NodeJson(name)).first->second;
  };
  for (const auto& [name, endpoint] : result.placement().service_endpoints()) {
    if (endpoint.has_node_alias()) node(endpoint.node_alias());
  }
  const ResourceUsageLogs& logs = result.resource_usage_logs();
  for (const auto& [name, usage] : logs.node_usages()) {
    node(name)["usage"] = UsageJson(usage);
  }
  for (const auto& [name, resources] : logs.node_resources()) {
    if (resources.has_host()) node(name)["host"] = HostJson(resources.host());
    node(name)["host_counters"] =
        CountersJson(resources, &ResourceSample::host_counters);
    node(name)["hardware_counters"] =
        CountersJson(resources, &ResourceSample::hardware_counters);
    node(name)["energy_uj"] = EnergyJson(resources);
  }
  for (const auto& [name, offset] : result.run_info().clock_offsets()) {
    node(name)["clock_offset_ns"] = offset.offset_ns();
    node(name)["clock_offset_error_ns"] = offset.error_ns();
  }
  if (logs.has_test_sequencer_usage()) {
    node("test_sequencer")["usage"] = UsageJson(logs.test_sequencer_usage());
  }
  Json json = Json::array();
  for (auto& [name, entry] : nodes) json.push_back(std::move(entry));
  return json;
}

Json PlacementJson(const TestResult& result) {
  Json json = Json::array();
  for (const auto* instance :
       results::Sorted(result.placement().service_endpoints())) {
    const ServiceEndpoint& endpoint = instance->second;
    json.push_back({{"instance", instance->first},
                    {"node", base::OrNull(endpoint.has_node_alias(),
                                          endpoint.node_alias())},
                    {"hostname", base::OrNull(endpoint.has_hostname(),
                                              endpoint.hostname())},
                    {"address", base::OrNull(endpoint.has_endpoint_address(),
                                             endpoint.endpoint_address())}});
  }
  return json;
}

}  // namespace distbench::report
