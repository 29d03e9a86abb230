// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/system_copies.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/hosts.h"
#include "distbench/base/index_list.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::search {
namespace {

std::string PrefixOf(int copy) { return absl::StrCat(copy, "."); }

void Prepend(const std::string& prefix, std::string* name) {
  if (!name->empty()) name->insert(0, prefix);
}

template <typename Names>
void PrependAll(const std::string& prefix, Names* names) {
  for (std::string& name : *names) Prepend(prefix, &name);
}

void CopyServices(const DistributedSystemDescription& test,
                  const std::string& prefix,
                  DistributedSystemDescription& into) {
  for (const ServiceSpec& service : test.services()) {
    ServiceSpec& copy = *into.add_services() = service;
    Prepend(prefix, copy.mutable_name());
  }
  for (const ServerFault& fault : test.server_faults()) {
    ServerFault& copy = *into.add_server_faults() = fault;
    Prepend(prefix, copy.mutable_name());
    Prepend(prefix, copy.mutable_service());
    if (copy.has_rpc_name()) Prepend(prefix, copy.mutable_rpc_name());
  }
  for (const auto& [node, bundle] : test.node_service_bundles()) {
    ServiceBundle& all = (*into.mutable_node_service_bundles())[node];
    for (const std::string& instance : bundle.services()) {
      all.add_services(absl::StrCat(prefix, instance));
    }
  }
  for (const auto& [key, constraints] : test.service_constraints()) {
    (*into.mutable_service_constraints())[absl::StrCat(prefix, key)] =
        constraints;
  }
}

void CopyRpcs(const DistributedSystemDescription& test,
              const std::string& prefix, DistributedSystemDescription& into) {
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    RpcSpec& copy = *into.add_rpc_descriptions() = rpc;
    Prepend(prefix, copy.mutable_name());
    Prepend(prefix, copy.mutable_server());
    PrependAll(prefix, copy.mutable_client());
  }
  for (const RpcReplayTrace& trace : test.rpc_replay_traces()) {
    RpcReplayTrace& copy = *into.add_rpc_replay_traces() = trace;
    Prepend(prefix, copy.mutable_name());
    Prepend(prefix, copy.mutable_client());
    Prepend(prefix, copy.mutable_server());
  }
}

void CopyActions(const DistributedSystemDescription& test,
                 const std::string& prefix,
                 DistributedSystemDescription& into) {
  for (const Action& action : test.actions()) {
    Action& copy = *into.add_actions() = action;
    Prepend(prefix, copy.mutable_name());
    PrependAll(prefix, copy.mutable_dependencies());
    if (copy.has_rpc_name()) Prepend(prefix, copy.mutable_rpc_name());
    if (copy.has_action_list_name()) {
      Prepend(prefix, copy.mutable_action_list_name());
    }
    if (copy.has_rpc_replay_trace_name()) {
      Prepend(prefix, copy.mutable_rpc_replay_trace_name());
    }
    if (copy.has_receive_rpc_name()) {
      Prepend(prefix, copy.mutable_receive_rpc_name());
    }
  }
  for (const ActionList& list : test.action_lists()) {
    ActionList& copy = *into.add_action_lists() = list;
    Prepend(prefix, copy.mutable_name());
    PrependAll(prefix, copy.mutable_action_names());
  }
}

// Each copy has groups of its own, so that it gets all that they allow.
void CopyControls(const DistributedSystemDescription& test,
                  const std::string& prefix,
                  DistributedSystemDescription& into) {
  for (const ControlGroup& group : test.controls().groups()) {
    if (group.everything_else()) continue;
    ControlGroup& copy = *into.mutable_controls()->add_groups() = group;
    PrependAll(prefix, copy.mutable_services());
  }
}

// What is set for everything else on a host is not of a copy.
void AddSharedControls(const DistributedSystemDescription& test,
                       DistributedSystemDescription& into) {
  for (const ControlGroup& group : test.controls().groups()) {
    if (group.everything_else()) *into.mutable_controls()->add_groups() = group;
  }
}

// Maps an index of a copy's RPC or trace to that of the system.
int OwnIndex(const DistributedSystemDescription& system, int count, int index) {
  const int rpc_count = system.rpc_descriptions_size();
  const int trace_count = system.rpc_replay_traces_size();
  const int first_trace = count * rpc_count;
  if (index < first_trace) return index % rpc_count;
  if (trace_count == 0) return index;
  return rpc_count + (index - first_trace) % trace_count;
}

// A client only sends RPCs of its own copy, so indices stay distinct.
template <typename Map, typename MakeIndex>
void Reindex(MakeIndex make_index, Map* map) {
  Map renamed;
  for (auto& [index, value] : *map) {
    renamed[make_index(index)] = std::move(value);
  }
  *map = std::move(renamed);
}

// An instance has only faults of its own copy.
void RemovePrefixes(ServicePerformanceLog& log) {
  google::protobuf::Map<std::string, FaultLog> renamed;
  for (auto& [name, fault] : *log.mutable_fault_logs()) {
    renamed[name.substr(name.find('.') + 1)] = std::move(fault);
  }
  *log.mutable_fault_logs() = std::move(renamed);
}

}  // namespace

DistributedSystemDescription ReplicateSystem(
    const DistributedSystemDescription& test, int count) {
  if (count == 1) return test;
  DistributedSystemDescription all = test;
  // Their RPCs and services have other names now. A search judges its probes by
  // objectives of its own, and without an experiment.
  all.clear_objectives();
  all.clear_experiment();
  all.mutable_controls()->clear_groups();
  if (!test.has_controls()) all.clear_controls();
  all.clear_services();
  all.clear_node_service_bundles();
  all.clear_service_constraints();
  all.clear_server_faults();
  all.clear_rpc_descriptions();
  all.clear_rpc_replay_traces();
  all.clear_actions();
  all.clear_action_lists();
  for (int copy = 1; copy <= count; ++copy) {
    const std::string prefix = PrefixOf(copy);
    CopyServices(test, prefix, all);
    CopyRpcs(test, prefix, all);
    CopyActions(test, prefix, all);
    CopyControls(test, prefix, all);
  }
  AddSharedControls(test, all);
  return all;
}

TestResult ResultOfCopy(const TestResult& result,
                        const DistributedSystemDescription& system, int count,
                        int copy) {
  if (count == 1) return result;
  TestResult own;
  *own.mutable_traffic_config() = system;
  config::RedactSecrets(*own.mutable_traffic_config());
  *own.mutable_run_info() = result.run_info();
  *own.mutable_resource_usage_logs() = result.resource_usage_logs();
  const auto own_index = [&](int index) {
    return OwnIndex(system, count, index);
  };
  auto& logs = *own.mutable_service_logs()->mutable_instance_logs();
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    if (copy != 0 && !absl::StartsWith(instance, PrefixOf(copy))) continue;
    ServicePerformanceLog& own_log = logs[instance] = log;
    for (auto& [peer, peer_log] : *own_log.mutable_peer_logs()) {
      Reindex(own_index, peer_log.mutable_rpc_logs());
      Reindex(own_index, peer_log.mutable_replay_logs());
    }
    Reindex(own_index, own_log.mutable_rpc_time_series());
    Reindex(own_index, own_log.mutable_offered_loads());
    Reindex(own_index, own_log.mutable_pooled_statistics());
    Reindex(own_index, own_log.mutable_stream_statistics());
    Reindex(own_index, own_log.mutable_policy_statistics());
    RemovePrefixes(own_log);
  }
  return own;
}

std::string FailureOfCopy(const TestResult& result, int copy) {
  const std::string prefix = PrefixOf(copy);
  const auto& logs = result.service_logs().instance_logs();
  std::set<std::string> reasons;
  for (const auto& [instance, endpoint] :
       result.placement().service_endpoints()) {
    if (!absl::StartsWith(instance, prefix)) continue;
    const auto log = logs.find(instance);
    if (log == logs.end()) {
      reasons.insert(absl::StrCat("nothing was heard of ", instance, " on ",
                                  endpoint.node_alias()));
    } else if (log->second.has_engine_error_message() &&
               log->second.engine_error_message() !=
                   result.run_info().failure()) {
      reasons.insert(absl::StrCat(
          instance, " stopped early: ", log->second.engine_error_message()));
    }
  }
  return absl::StrJoin(reasons, "; ");
}

namespace {

// The CPUs of each core, ordered by the lowest of them.
std::vector<base::IndexSet> CoresOf(const HostTopology& topology,
                                    const base::IndexSet& allowed) {
  std::set<base::IndexSet> cores;
  base::IndexSet alone = allowed;
  for (const std::string& siblings : topology.smt_siblings()) {
    const absl::StatusOr<base::IndexSet> cpus = base::ParseIndexList(siblings);
    if (!cpus.ok()) continue;  // damaged: its CPUs count as cores
    const base::IndexSet usable = base::Intersection(*cpus, alone);
    if (usable.empty()) continue;
    cores.insert(usable);
    alone = base::Without(alone, usable);
  }
  for (const int cpu : alone) cores.insert({cpu});
  return {cores.begin(), cores.end()};
}

absl::StatusOr<std::vector<std::string>> Slice(
    const std::vector<base::IndexSet>& cores, int count) {
  const size_t slice_count = std::max(count, 1);
  if (cores.size() < slice_count) {
    return absl::FailedPreconditionError(
        absl::StrCat("the host has ", cores.size(), " cores for ", count,
                     " instances; start fewer, or without --cpu_slices"));
  }
  std::vector<std::string> slices;
  for (size_t i = 0; i < slice_count; ++i) {
    base::IndexSet cpus;
    const size_t end = (i + 1) * cores.size() / slice_count;
    for (size_t core = i * cores.size() / slice_count; core < end; ++core) {
      cpus.insert(cores[core].begin(), cores[core].end());
    }
    slices.push_back(base::FormatIndexList(cpus));
  }
  return slices;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SliceCpus(const HostTopology& topology,
                                                   int count) {
  const absl::StatusOr<base::IndexSet> allowed =
      base::ParseIndexList(topology.allowed_cpus());
  if (!allowed.ok()) return allowed.status();
  return Slice(CoresOf(topology, *allowed), count);
}

bool IsOneHost(const GetStatusResponse& status) {
  base::HostNumbers hosts;
  for (const NodeStatus& node : status.nodes()) {
    hosts.Of(node.registration().hostname(), node.registration().boot_id());
  }
  return hosts.count() == 1;
}

absl::StatusOr<std::vector<std::string>> SliceHost(
    const GetStatusResponse& status, int count) {
  if (!IsOneHost(status)) {
    return absl::FailedPreconditionError(
        "instances can have slices of the CPUs only if all nodes are on one "
        "host; leave out --cpu_slices, or start all nodes on one host");
  }
  HostTopology topology = status.nodes(0).registration().topology();
  for (const NodeStatus& node : status.nodes()) {
    const auto usable =
        base::ParseIndexList(node.registration().topology().allowed_cpus());
    const auto common = base::ParseIndexList(topology.allowed_cpus());
    if (!usable.ok()) return usable.status();
    if (!common.ok()) return common.status();
    topology.set_allowed_cpus(
        base::FormatIndexList(base::Intersection(*common, *usable)));
  }
  return SliceCpus(topology, count);
}

absl::Status BindCopies(const std::vector<std::string>& slices,
                        DistributedSystemDescription& test) {
  if (slices.empty()) return absl::OkStatus();
  for (ServiceSpec& service : *test.mutable_services()) {
    if (config::IsOutside(service)) continue;
    if (service.has_numa_binding()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "services[\"", service.name(),
          "\"].numa_binding: excludes slices of the CPUs for instances; remove "
          "it, or give a number of --instances and no --cpu_slices"));
    }
    for (size_t i = 0; i < slices.size(); ++i) {
      const bool is_of_copy =
          slices.size() == 1 ||
          absl::StartsWith(service.name(), absl::StrCat(i + 1, "."));
      if (is_of_copy) service.mutable_numa_binding()->set_cpus(slices[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::search
