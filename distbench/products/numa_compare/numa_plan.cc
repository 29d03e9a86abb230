// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/numa_compare/numa_compare.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/index_list.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/topology.h"

namespace distbench::numa_compare {
namespace {

constexpr char kEachInTurn[] = "round_robin";

bool IsFanoutToAll(const std::string& filter) {
  return filter.empty() || filter == "all";
}

// Returns the service to deploy: `asked` unless it is empty, else the only
// service that serves RPCs and has no main list. The error names the
// candidates.
absl::StatusOr<std::string> ChooseService(
    const DistributedSystemDescription& test, const std::string& asked) {
  std::set<std::string> servers;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    servers.insert(rpc.server());
  }
  if (servers.contains(asked)) return asked;
  if (!asked.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", asked, "\" is not a service that receives RPCs; ",
                     "there are: ", absl::StrJoin(servers, ", ")));
  }
  std::set<std::string> candidates = servers;
  for (const ActionList& list : test.action_lists()) {
    candidates.erase(list.name());  // as main lists are called
  }
  if (candidates.size() == 1) return *candidates.begin();
  return absl::InvalidArgumentError(absl::StrCat(
      "which service is to be deployed in different ways? Say --service=NAME: ",
      absl::StrJoin(candidates.empty() ? servers : candidates, ", ")));
}

// The pools of a service's instances: those that the activities of its main
// list and of its handlers take.
std::set<std::string> PoolsOf(const DistributedSystemDescription& test,
                              const config::TestNames& names,
                              const std::string& service) {
  std::set<std::string> pools;
  const auto add = [&](const Action& action) {
    const int index = names.activities.Find(action.activity_config_name());
    if (index == config::kNone) return;
    const ActivityConfig& activity = test.activity_configs(index);
    if (activity.has_pool_name()) pools.insert(activity.pool_name());
  };
  config::ForEachActionOf(test, names, service, add);
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.server() != service) continue;
    config::ForEachActionOf(test, names, rpc.name(), add);
  }
  return pools;
}

// Says why dividing the service's pools would change other services; empty if
// it would not.
std::string WhyPoolsAreShared(const DistributedSystemDescription& test,
                              const std::string& service) {
  const config::TestNames names(test);
  const std::set<std::string> pools = PoolsOf(test, names, service);
  for (const ServiceSpec& spec : test.services()) {
    if (spec.name() == service) continue;
    for (const std::string& pool : PoolsOf(test, names, spec.name())) {
      if (!pools.contains(pool)) continue;
      return absl::StrCat("the activity pool ", pool, " of ", service,
                          " would be divided among its instances, but ",
                          spec.name(),
                          " uses it, too; give each service its own pool");
    }
  }
  return "";
}

// Says why the number of instances of the service would change what they do
// together; empty if it does not.
std::string WhyUndeployable(const DistributedSystemDescription& test,
                            const std::string& service) {
  if (test.services_size() < 2) {
    return "it has only one service, which cannot generate its own load";
  }
  for (const ServiceSpec& spec : test.services()) {
    if (spec.name() != service) continue;
    if (config::IsOutside(spec)) return absl::StrCat(service, " is external");
    if (spec.has_y_size()) return absl::StrCat(service, " is a grid");
    if (!spec.multi_server_channels().empty()) {
      return absl::StrCat(service, " has multi-server channels");
    }
  }
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    const std::string& filter = rpc.fanout_filter();
    if (rpc.server() != service || IsFanoutToAll(filter) ||
        filter == kEachInTurn || filter == "random") {
      continue;
    }
    return absl::StrCat("the traffic of ", rpc.name(), " to ", service,
                        " depends on the number of instances: fanout_filter ",
                        filter);
  }
  for (const RpcReplayTrace& trace : test.rpc_replay_traces()) {
    if (trace.client() == service || trace.server() == service) {
      return absl::StrCat("the replay trace ", trace.name(),
                          " names instances of ", service);
    }
  }
  return WhyPoolsAreShared(test, service);
}

// Returns the test with `instances` instances of the service, each on a node of
// its own from node1 on, and all other instances on node0. RPCs that went to
// all instances go to one of them in turn. The service's pools are divided
// among its instances. Samples are not kept.
DistributedSystemDescription DeployTest(
    const DistributedSystemDescription& original, const std::string& service,
    int instances, absl::string_view name) {
  DistributedSystemDescription test = original;
  test.set_name(
      absl::StrCat(test.name().empty() ? "test" : test.name(), "@", name));
  test.clear_node_service_bundles();
  test.clear_service_constraints();
  test.clear_workers_per_instance();
  test.set_sample_memory_bytes(0);
  auto& bundles = *test.mutable_node_service_bundles();
  for (ServiceSpec& spec : *test.mutable_services()) {
    spec.clear_numa_binding();
    if (spec.name() == service) {
      spec.set_count(instances);
      spec.set_x_size(instances);
    }
    int node = 0;
    for (const std::string& instance : config::InstanceNames(spec)) {
      if (spec.name() == service) ++node;
      bundles[absl::StrCat("node", node)].add_services(instance);
    }
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (rpc.server() == service && IsFanoutToAll(rpc.fanout_filter())) {
      rpc.set_fanout_filter(kEachInTurn);
    }
  }
  const std::set<std::string> divided =
      PoolsOf(test, config::TestNames(test), service);
  for (ActivityPoolSpec& pool : *test.mutable_activity_pools()) {
    if (!divided.contains(pool.name())) continue;
    pool.set_size(std::max(1, pool.size() / instances));
  }
  return test;
}

struct Host {
  const HostTopology& topology;
  base::IndexSet nodes = {};  // those tested; empty: the kernel knows none
  base::IndexSet service_cpus = {};
  base::IndexSet generator_cpus = {};  // empty: shared with the service
};

// Divides the CPUs between the service, which gets those of the nodes asked for
// or of all that instances can be bound to, and the generators.
absl::StatusOr<Host> DivideHost(const NumaOptions& options,
                                const HostTopology& topology) {
  const absl::StatusOr<base::IndexSet> asked =
      numa::ParseNamedList("numa_nodes", options.numa_nodes);
  if (!asked.ok()) return asked.status();
  const absl::StatusOr<base::IndexSet> generators =
      numa::ParseNamedList("generator_cpus", options.generator_cpus);
  if (!generators.ok()) return generators.status();
  const base::IndexSet allowed = numa::IndicesOf(topology.allowed_cpus());
  if (const auto missing = base::Without(*generators, allowed);
      !missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the generators cannot use CPUs ", base::FormatIndexList(missing),
        "; there are ", topology.allowed_cpus()));
  }
  Host host = {topology};
  base::IndexSet tested;
  for (const int node : asked->empty() ? numa::NumaNodeIds(topology) : *asked) {
    NumaBinding binding;
    binding.set_nodes(absl::StrCat(node));
    const absl::StatusOr<numa::ResolvedBinding> resolved =
        numa::ResolveBinding(binding, /*instance=*/0, topology);
    if (!resolved.ok() && !asked->empty()) return resolved.status();
    if (!resolved.ok()) continue;
    if (base::Without(resolved->cpus, *generators).empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the generators take all CPUs of NUMA node ", node,
                       "; leave some to the service"));
    }
    host.nodes.insert(node);
    tested.insert(resolved->cpus.begin(), resolved->cpus.end());
  }
  if (host.nodes.empty()) tested = allowed;
  host.service_cpus = base::Without(tested, *generators);
  host.generator_cpus =
      generators->empty() ? base::Without(allowed, tested) : *generators;
  if (host.service_cpus.empty()) {
    return absl::FailedPreconditionError("no CPU is left to the service");
  }
  return host;
}

// Returns the other tested node that is farthest from this one.
int FarthestNode(int node, const Host& host) {
  const auto& nodes = host.topology.numa_nodes();
  const auto& distances = numa::FindNumaNode(host.topology, node)->distances();
  int farthest = node;
  int greatest = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    const int other = nodes[i].id();
    if (other == node || !host.nodes.contains(other)) continue;
    const int distance = i < distances.size() ? distances[i] : 1;
    if (distance <= greatest) continue;
    farthest = other;
    greatest = distance;
  }
  return farthest;
}

// Flags of a node manager.
using Flags = std::vector<std::string>;

// `memory`: its flags.
Flags NodeFlags(const base::IndexSet& cpus, Flags memory, int workers) {
  Flags flags = {absl::StrCat("--cpus=", base::FormatIndexList(cpus))};
  absl::c_move(memory, std::back_inserter(flags));
  flags.push_back(absl::StrCat("--workers=", workers));
  return flags;
}

// Memory is where the kernel puts it.
Flags UnboundFlags(const base::IndexSet& cpus, int workers) {
  return NodeFlags(cpus, {"--mem_policy=local"}, workers);
}

// Binds one of the instances to a node. The first ones share the first node; a
// single node is split into parts of about equal size, of neighbouring CPUs.
Flags BoundFlags(const Host& host, int instance, int instances, int workers,
                 bool is_remote) {
  const auto part_of = [instances](const base::IndexSet& whole, int part) {
    return std::next(whole.begin(),
                     static_cast<int64_t>(whole.size()) * part / instances);
  };
  base::IndexSet cpus = host.service_cpus;
  Flags memory;
  if (!host.nodes.empty()) {
    const int node = *part_of(host.nodes, instance);
    cpus = base::Intersection(cpus, numa::CpusOfNodes(host.topology, {node}));
    const int from = is_remote ? FarthestNode(node, host) : node;
    memory = {"--mem_policy=bind", absl::StrCat("--mem_nodes=", from)};
  }
  if (host.nodes.size() < 2) {
    cpus = {part_of(host.service_cpus, instance),
            part_of(host.service_cpus, instance + 1)};
  }
  return NodeFlags(cpus, std::move(memory), workers);
}

// These are the same in all deployments.
Flags GeneratorFlags(const DistributedSystemDescription& test,
                     const Host& host) {
  const base::IndexSet& cpus =
      host.generator_cpus.empty() ? host.service_cpus : host.generator_cpus;
  const int count =
      std::max(1, test.node_service_bundles().at("node0").services_size());
  return UnboundFlags(cpus, std::max(1, static_cast<int>(cpus.size()) / count));
}

// A way to deploy the service: as one instance or as several, each bound to a
// node or not, with that node's memory or with another's.
struct Way {
  const char* name;
  bool is_one = false;
  bool is_bound = false;
  bool is_remote = false;
};

constexpr Way kWays[] = {{"one_unbound", /*is_one=*/true},
                         {"unbound"},
                         {"bound", false, /*is_bound=*/true},
                         {"bound_remote", false, true, /*is_remote=*/true}};

// `options` have all sizes.
absl::StatusOr<PlannedDeployment> Deploy(
    const Way& way, const DistributedSystemDescription& original,
    const NumaOptions& options, const Host& host) {
  PlannedDeployment deployment;
  const int instances = way.is_one ? 1 : options.instances;
  const int workers = options.workers / instances;
  deployment.description.set_name(way.name);
  deployment.description.set_instances(instances);
  deployment.description.set_workers_per_instance(workers);
  const DistributedSystemDescription test =
      DeployTest(original, options.service, instances, way.name);
  deployment.node_flags.push_back(GeneratorFlags(test, host));
  for (int i = 0; i < instances; ++i) {
    deployment.node_flags.push_back(
        way.is_bound ? BoundFlags(host, i, instances, workers, way.is_remote)
                     : UnboundFlags(host.service_cpus, workers));
  }
  for (const std::string& objective :
       {absl::StrFormat("cpu<=%g%%", options.cpu_percent), options.objective}) {
    if (objective.empty()) continue;
    LoadSearchSpec spec = options.search;
    spec.set_knob("rate");
    spec.add_objectives(objective);
    absl::StatusOr<search::SearchPlan> search = search::PlanSearch(spec, test);
    if (!search.ok()) return search.status();
    deployment.searches.push_back(*std::move(search));
  }
  return deployment;
}

// Sets the instances and workers that were not asked for.
absl::Status SetSizes(const Host& host, NumaOptions& options, NumaPlan& plan) {
  const int cpu_count = static_cast<int>(host.service_cpus.size());
  const int node_count = std::max(1, static_cast<int>(host.nodes.size()));
  if (options.instances == 0) {
    options.instances = node_count > 1 ? node_count : std::min(2, cpu_count);
  }
  const int instances = options.instances;
  if (instances % node_count != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(instances, " instances cannot be divided equally among ",
                     node_count, " NUMA nodes; choose a multiple"));
  }
  if (instances > cpu_count) {
    return absl::InvalidArgumentError(
        absl::StrCat(instances, " instances are more than the service's ",
                     cpu_count, " CPUs"));
  }
  const int asked = options.workers > 0 ? options.workers : cpu_count;
  options.workers = std::max(instances, asked / instances * instances);
  if (options.workers == asked) return absl::OkStatus();
  plan.omissions.push_back(absl::StrCat(
      options.workers, " workers instead of ", asked,
      ", which cannot be divided equally among ", instances, " instances."));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NumaPlan> PlanNumaComparison(
    const DistributedSystemDescription& test, NumaOptions options,
    const HostTopology& topology) {
  absl::StatusOr<std::string> service = ChooseService(test, options.service);
  if (!service.ok()) return service.status();
  options.service = *std::move(service);
  const std::string why = WhyUndeployable(test, options.service);
  if (!why.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the test cannot be compared: ", why));
  }
  const absl::StatusOr<Host> host = DivideHost(options, topology);
  if (!host.ok()) return host.status();

  NumaPlan plan;
  const absl::Status sized = SetSizes(*host, options, plan);
  if (!sized.ok()) return sized;
  if (host->generator_cpus.empty()) {
    plan.omissions.push_back(
        "No CPU is left for the load generators, so they share the service's "
        "CPUs and disturb it. --generator_cpus or --numa_nodes would set some "
        "apart.");
  }
  if (options.instances < 2) {
    plan.omissions.push_back(
        "The service has a single CPU, so there is nothing to divide among "
        "instances: only one_unbound was run.");
  } else if (host->nodes.size() < 2) {
    plan.omissions.push_back(
        "The service has a single NUMA node: bound instances have their own "
        "CPUs but the same memory, and bound_remote, the control with far "
        "memory, was left out.");
  }
  for (const Way& way : kWays) {
    if (!way.is_one && options.instances < 2) continue;
    if (way.is_remote && host->nodes.size() < 2) continue;
    absl::StatusOr<PlannedDeployment> deployment =
        Deploy(way, test, options, *host);
    if (!deployment.ok()) return deployment.status();
    plan.deployments.push_back(*std::move(deployment));
  }
  return plan;
}

}  // namespace distbench::numa_compare
