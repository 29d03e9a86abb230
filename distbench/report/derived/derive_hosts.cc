// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Nodes, where instances ran, and what sockets had.

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/network_readings.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

void DeriveHost(const HostFacts& facts, Report::Host& host) {
  CopyByName(facts, host);
  CopyByName(facts.topology(), host);
}

void DeriveUsage(const RUsageStats& usage, Report::Usage& derived) {
  const RUsage& added = usage.rusage_diff();
  CopyByName(added, derived);
  derived.set_max_resident_kib(
      std::max(usage.rusage_start().max_resident_set_size(),
               added.max_resident_set_size()));
}

// The totals of the whole run.
void AddSamples(const NodeResources& resources, Report::Node& node) {
  node.mutable_host_counters();
  node.mutable_hardware_counters();
  for (const ResourceSample& sample : resources.samples()) {
    results::AddCounters(sample.host_counters(), *node.mutable_host_counters());
    results::AddCounters(sample.hardware_counters(),
                         *node.mutable_hardware_counters());
    for (const auto& [domain, used_uj] : sample.energy_uj()) {
      base::SaturatingAddTo((*node.mutable_energy_uj())[domain], used_uj);
    }
  }
}

void DeriveNodes(const TestResult& result, Report::Test& test) {
  std::map<std::string, Report::Node> nodes;
  for (const auto& [name, endpoint] : result.placement().service_endpoints()) {
    if (endpoint.has_node_alias()) nodes[endpoint.node_alias()];
  }
  const ResourceUsageLogs& logs = result.resource_usage_logs();
  for (const auto& [name, usage] : logs.node_usages()) {
    DeriveUsage(usage, *nodes[name].mutable_usage());
  }
  for (const auto& [name, resources] : logs.node_resources()) {
    Report::Node& node = nodes[name];
    if (resources.has_host()) {
      DeriveHost(resources.host(), *node.mutable_host());
    }
    for (const EngineProgram& engine : resources.engines()) {
      CopyByName(engine, *node.add_engines());
    }
    AddSamples(resources, node);
  }
  for (const auto& [name, offset] : result.run_info().clock_offsets()) {
    nodes[name].set_clock_offset_ns(offset.offset_ns());
    nodes[name].set_clock_offset_error_ns(offset.error_ns());
  }
  if (logs.has_test_sequencer_usage()) {
    DeriveUsage(logs.test_sequencer_usage(),
                *nodes["test_sequencer"].mutable_usage());
  }
  for (auto& [name, node] : nodes) {
    node.set_name(name);
    *test.add_nodes() = std::move(node);
  }
}

void DerivePlacement(const TestResult& result, Report::Test& test) {
  for (const auto* instance :
       results::Sorted(result.placement().service_endpoints())) {
    Report::PlacedInstance& placed = *test.add_placement();
    placed.set_instance(instance->first);
    CopyByName(instance->second, placed);
  }
}

void DeriveNetworkSettings(const TestResult& result, Report::Test& test) {
  for (const ServiceConnections& folded : FoldNetworkSettings(result)) {
    Report::NetworkSettings& settings = *test.add_network_settings();
    CopyByName(folded.connections, settings);
    settings.set_service(folded.service);
    settings.set_total_count(folded.total_count);
    settings.set_text(Describe(folded));
  }
}

}  // namespace

std::string BindingText(const BindingProof& proof) {
  if (!proof.has_binding()) return "none";
  const NumaBinding& binding = proof.binding();
  return absl::StrCat(
      "CPUs ", binding.cpus(), ", memory ",
      absl::AsciiStrToLower(
          NumaBinding::MemoryPolicy_Name(binding.memory_policy())),
      binding.memory_nodes().empty() ? "" : " ", binding.memory_nodes());
}

Report::Binding DeriveBinding(const std::string& instance,
                              const BindingProof& proof) {
  Report::Binding binding;
  CopyByName(proof, binding);
  binding.set_instance(instance);
  if (proof.has_binding()) binding.set_binding(BindingText(proof));
  binding.set_is_strict(proof.binding().strict());
  return binding;
}

void DeriveHosts(const TestResult& result, Report::Test& test) {
  DeriveNodes(result, test);
  DerivePlacement(result, test);
  for (const auto* node :
       results::Sorted(result.resource_usage_logs().node_resources())) {
    for (const auto* proof : results::Sorted(node->second.binding_proofs())) {
      Report::Binding& binding = *test.add_bindings();
      binding = DeriveBinding(proof->first, proof->second);
      binding.set_node(node->first);
    }
  }
  DeriveNetworkSettings(result, test);
}

}  // namespace distbench::report
