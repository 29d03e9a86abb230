#include "distbench/base/json.h"
#include "distbench/report/json/json_parts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/network_readings.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/resource_usage.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

// The value of an optional field, or null.
Json ControlGroupsJson(const ControlGroupFacts& groups) {
  return {{"version", groups.version()},
          {"delegated_path",
           base::OrNull(groups.has_delegated_path(), groups.delegated_path())},
          {"controllers", std::vector<std::string>(groups.controllers().begin(),
                                                   groups.controllers().end())},
          {"problem", base::OrNull(groups.has_problem(), groups.problem())},
          {"io_cost_devices",
           std::vector<std::string>(groups.io_cost_devices().begin(),
                                    groups.io_cost_devices().end())}};
}

Json HostJson(const HostFacts& host) {
  Json json = {
      {"hostname", base::OrNull(host.has_hostname(), host.hostname())},
      {"kernel", base::OrNull(host.has_kernel(), host.kernel())},
      {"cpu_model", base::OrNull(host.has_cpu_model(), host.cpu_model())},
      {"cpu_count", base::OrNull(host.has_cpu_count(), host.cpu_count())},
      {"numa_node_count",
       base::OrNull(host.has_numa_node_count(), host.numa_node_count())},
      {"memory_bytes",
       base::OrNull(host.has_memory_bytes(), host.memory_bytes())},
      {"cpu_frequency_governor", base::OrNull(host.has_cpu_frequency_governor(),
                                              host.cpu_frequency_governor())},
      {"transparent_huge_pages", base::OrNull(host.has_transparent_huge_pages(),
                                              host.transparent_huge_pages())},
      {"is_smt_active",
       base::OrNull(host.has_is_smt_active(), host.is_smt_active())},
      {"is_cpu_boost_enabled", base::OrNull(host.has_is_cpu_boost_enabled(),
                                            host.is_cpu_boost_enabled())},
      {"tcp_congestion_control", base::OrNull(host.has_tcp_congestion_control(),
                                              host.tcp_congestion_control())},
      {"tcp_ecn_mode",
       base::OrNull(host.has_tcp_ecn_mode(), host.tcp_ecn_mode())},
      {"default_queueing_discipline",
       base::OrNull(host.has_default_queueing_discipline(),
                    host.default_queueing_discipline())}};
  Json& devices = json["network_devices"] = Json::array();
  for (const NetworkDevice& device : host.network_devices()) {
    devices.push_back(
        {{"name", device.name()},
         {"mtu", device.mtu()},
         {"numa_node",
          base::OrNull(device.has_numa_node(), device.numa_node())},
         {"queueing_discipline", base::OrNull(device.has_queueing_discipline(),
                                              device.queueing_discipline())},
         {"interrupt_cpus",
          std::vector<std::string>(device.interrupt_cpus().begin(),
                                   device.interrupt_cpus().end())}});
  }
  Json& numa_nodes = json["numa_nodes"] = Json::array();
  for (const NumaNode& node : host.topology().numa_nodes()) {
    numa_nodes.push_back(
        {{"id", node.id()},
         {"cpus", node.cpus()},
         {"memory_bytes", node.memory_bytes()},
         {"distances",
          std::vector<int>(node.distances().begin(), node.distances().end())}});
  }
  json["control_groups"] = base::OrNull(
      host.has_control_groups(), ControlGroupsJson(host.control_groups()));
  json["idle_driver"] =
      base::OrNull(host.has_idle_driver(), host.idle_driver());
  json["idle_states"] = std::vector<std::string>(host.idle_states().begin(),
                                                 host.idle_states().end());
  const std::map<std::string, std::string> mitigations(
      host.mitigations().begin(), host.mitigations().end());
  json["mitigations"] = mitigations;
  json["hardware_counters_problem"] = base::OrNull(
      host.has_hardware_counters_problem(), host.hardware_counters_problem());
  json["energy_problem"] =
      base::OrNull(host.has_energy_problem(), host.energy_problem());
  json["libfabric_providers"] = std::vector<std::string>(
      host.libfabric_providers().begin(), host.libfabric_providers().end());
  json["libfabric_problem"] =
      base::OrNull(host.has_libfabric_problem(), host.libfabric_problem());
  const std::map<std::string, std::string> versions(host.versions().begin(),
                                                    host.versions().end());
  json["versions"] = versions;
  return json;
}

// Totals of the whole run.
Json HostCountersJson(const NodeResources& resources) {
  HostCounters totals;
  for (const ResourceSample& sample : resources.samples()) {
    results::AddCounters(sample.host_counters(), totals);
  }
  Json json;
  for (const auto& [name, value] : results::ListCounters(totals)) {
    json[name] = base::OrNull(value);
  }
  return json;
}

Json HardwareCountersJson(const NodeResources& resources) {
  HardwareCounters totals;
  for (const ResourceSample& sample : resources.samples()) {
    results::AddCounters(sample.hardware_counters(), totals);
  }
  return {{"cycles", base::OrNull(totals.has_cycles(), totals.cycles())},
          {"instructions",
           base::OrNull(totals.has_instructions(), totals.instructions())},
          {"cache_references", base::OrNull(totals.has_cache_references(),
                                            totals.cache_references())},
          {"cache_misses",
           base::OrNull(totals.has_cache_misses(), totals.cache_misses())}};
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
  std::map<std::pair<std::string, std::string>, const BindingProof*> proofs;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    for (const auto& [instance, proof] : resources.binding_proofs()) {
      proofs[{node, instance}] = &proof;
    }
  }
  Json json = Json::array();
  for (const auto& [place, proof] : proofs) {
    Json entry = {{"node", place.first}};
    entry.update(BindingProofJson(place.second, *proof));
    json.push_back(std::move(entry));
  }
  return json;
}

Json NetworkSettingsJson(const TestResult& result) {
  Json json = Json::array();
  for (const ServiceConnections& folded : FoldNetworkSettings(result)) {
    const NetworkSettingProof& proof = folded.connections;
    Json settings = Json::array();
    for (const NetworkSettingReading& reading : proof.settings()) {
      settings.push_back({{"name", reading.name()},
                          {"asked", reading.asked()},
                          {"found", reading.found()},
                          {"differs", reading.differs()}});
    }
    json.push_back({{"service", folded.service},
                    {"accepted", proof.accepted()},
                    {"connection_count", proof.connection_count()},
                    {"total_count", folded.total_count},
                    {"settings", std::move(settings)},
                    {"text", Describe(folded)}});
  }
  return json;
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
    node(name)["host_counters"] = HostCountersJson(resources);
    node(name)["hardware_counters"] = HardwareCountersJson(resources);
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
  const auto& endpoints = result.placement().service_endpoints();
  const std::map<std::string, ServiceEndpoint> sorted(endpoints.begin(),
                                                      endpoints.end());
  Json json = Json::array();
  for (const auto& [instance, endpoint] : sorted) {
    json.push_back({{"instance", instance},
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
