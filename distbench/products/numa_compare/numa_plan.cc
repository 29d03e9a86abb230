#include "distbench/products/numa_compare/numa_compare.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/index_list.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/numa/binding.h"
#include "distbench/numa/topology.h"

namespace distbench::numa_compare {
namespace {

constexpr char kEachInTurn[] = "round_robin";

// Fanouts to one instance, which several instances share in turn.
bool IsFanoutToOne(const std::string& filter) {
  return filter == kEachInTurn || filter == "random";
}
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

// Says why the number of instances of the service would change what they do
// together; empty if it does not.
std::string WhyUndeployable(const DistributedSystemDescription& test,
                            const std::string& service) {
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
    if (rpc.server() != service || IsFanoutToOne(filter) ||
        IsFanoutToAll(filter)) {
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
  return "";
}

// Returns the test with `instances` instances of the service, each on a node of
// its own from node1 on, and all other instances on node0. RPCs that went to
// all instances go to one of them in turn. Samples are not kept.
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
  for (ActivityPoolSpec& pool : *test.mutable_activity_pools()) {
    pool.set_size(std::max(1, pool.size() / instances));
  }
  return test;
}

// CPUs for the service, and the NUMA nodes with the memory nearest to and
// farthest from them.
struct Place {
  base::IndexSet cpus;
  std::optional<int> near_node = {};  // absent: the kernel knows no nodes
  std::optional<int> far_node = {};   // absent: no other node is tested
};

struct Host {
  // One for each tested node, at least one.
  std::vector<Place> places;

  // Of all places.
  base::IndexSet service_cpus;
  base::IndexSet generator_cpus;  // empty: shared with the service
};

// The CPUs of the tested NUMA nodes.
using NodeCpus = std::map<int, base::IndexSet>;

// Returns the requested nodes or, without any, all that instances can be bound
// to.
absl::StatusOr<NodeCpus> ChooseNodes(const std::string& list,
                                     const HostTopology& topology) {
  const absl::StatusOr<base::IndexSet> asked =
      numa::ParseNamedList("numa_nodes", list);
  if (!asked.ok()) return asked.status();
  NodeCpus nodes;
  for (const int node : asked->empty() ? numa::NumaNodeIds(topology) : *asked) {
    NumaBinding binding;
    binding.set_nodes(absl::StrCat(node));
    const absl::StatusOr<numa::ResolvedBinding> resolved =
        numa::ResolveBinding(binding, /*instance=*/0, topology);
    if (resolved.ok()) {
      nodes[node] = resolved->cpus;
    } else if (!asked->empty()) {
      return resolved.status();
    }
  }
  return nodes;
}

// Returns the other tested node that is farthest from this one.
std::optional<int> FarthestNode(int node, const NodeCpus& tested,
                                const HostTopology& topology) {
  const auto& distances = numa::FindNumaNode(topology, node)->distances();
  std::optional<int> farthest;
  int greatest = 0;
  for (int i = 0; i < topology.numa_nodes_size(); ++i) {
    const int other = topology.numa_nodes(i).id();
    if (other == node || !tested.contains(other)) continue;
    const int distance = i < distances.size() ? distances[i] : 1;
    if (distance <= greatest) continue;
    farthest = other;
    greatest = distance;
  }
  return farthest;
}

absl::StatusOr<Host> DivideHost(const NumaOptions& options,
                                const HostTopology& topology) {
  const absl::StatusOr<NodeCpus> nodes =
      ChooseNodes(options.numa_nodes, topology);
  if (!nodes.ok()) return nodes.status();
  const absl::StatusOr<base::IndexSet> generators =
      numa::ParseNamedList("generator_cpus", options.generator_cpus);
  if (!generators.ok()) return generators.status();
  const base::IndexSet allowed = numa::IndicesOf(topology.allowed_cpus());
  const base::IndexSet missing = base::Without(*generators, allowed);
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the generators cannot use CPUs ", base::FormatIndexList(missing),
        "; there are ", topology.allowed_cpus()));
  }
  base::IndexSet tested = nodes->empty() ? allowed : base::IndexSet();
  Host host;
  for (const auto& [node, cpus] : *nodes) {
    tested.insert(cpus.begin(), cpus.end());
    const base::IndexSet left = base::Without(cpus, *generators);
    if (left.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the generators take all CPUs of NUMA node ", node,
                       "; leave some to the service"));
    }
    host.places.push_back({left, node, FarthestNode(node, *nodes, topology)});
  }
  host.service_cpus = base::Without(tested, *generators);
  host.generator_cpus =
      generators->empty() ? base::Without(allowed, tested) : *generators;
  if (host.service_cpus.empty()) {
    return absl::FailedPreconditionError("no CPU is left to the service");
  }
  if (host.places.empty()) host.places.push_back({host.service_cpus});
  return host;
}

// Returns the place of each instance. The first ones share the first place; a
// single place is split into parts of about equal size, of neighbouring CPUs.
std::vector<Place> PlacesOf(int instances, const std::vector<Place>& places) {
  std::vector<Place> all;
  const auto part_of = [instances](size_t whole, int instance) {
    return static_cast<int64_t>(whole) * instance / instances;
  };
  for (int i = 0; i < instances; ++i) {
    Place& place = all.emplace_back(places[part_of(places.size(), i)]);
    if (places.size() > 1) continue;
    const base::IndexSet& cpus = places.front().cpus;
    place.cpus = {std::next(cpus.begin(), part_of(cpus.size(), i)),
                  std::next(cpus.begin(), part_of(cpus.size(), i + 1))};
  }
  return all;
}

using Flags = std::vector<std::string>;

const char kLocalMemory[] = "--mem_policy=local";  // where the kernel puts it

std::string CpusFlag(const base::IndexSet& cpus) {
  return absl::StrCat("--cpus=", base::FormatIndexList(cpus));
}

std::string WorkersFlag(int workers) {
  return absl::StrCat("--workers=", workers);
}

Flags BoundFlags(const base::IndexSet& cpus, std::optional<int> memory_node) {
  if (!memory_node) return {CpusFlag(cpus)};
  return {CpusFlag(cpus), "--mem_policy=bind",
          absl::StrCat("--mem_nodes=", *memory_node)};
}

// These are the same in all deployments.
Flags GeneratorFlags(const DistributedSystemDescription& test,
                     const Host& host) {
  const base::IndexSet& cpus =
      host.generator_cpus.empty() ? host.service_cpus : host.generator_cpus;
  const int count =
      std::max(1, test.node_service_bundles().at("node0").services_size());
  return {CpusFlag(cpus), kLocalMemory,
          WorkersFlag(std::max(1, static_cast<int>(cpus.size()) / count))};
}

// Adds the deployments to the plan, all with `workers` in total.
void AddDeployments(const DistributedSystemDescription& test,
                    const std::string& service, const Host& host, int instances,
                    int workers, NumaPlan& plan) {
  const auto add = [&](const std::string& name, std::vector<Flags> flags) {
    PlannedDeployment& deployment = plan.deployments.emplace_back();
    deployment.name = name;
    deployment.instances = static_cast<int>(flags.size());
    deployment.workers_per_instance = workers / deployment.instances;
    deployment.test = DeployTest(test, service, deployment.instances, name);
    for (Flags& each : flags) {
      each.push_back(WorkersFlag(deployment.workers_per_instance));
    }
    flags.insert(flags.begin(), GeneratorFlags(deployment.test, host));
    deployment.node_flags = std::move(flags);
  };
  const Flags unbound = {CpusFlag(host.service_cpus), kLocalMemory};
  add("one_unbound", {unbound});
  if (instances < 2) {
    plan.omissions.push_back(
        "The service has a single CPU, so there is nothing to divide among "
        "instances: only one_unbound was run.");
    return;
  }
  std::vector<Flags> bound, bound_remote;
  for (const Place& place : PlacesOf(instances, host.places)) {
    bound.push_back(BoundFlags(place.cpus, place.near_node));
    bound_remote.push_back(BoundFlags(place.cpus, place.far_node));
  }
  add("unbound", std::vector<Flags>(instances, unbound));
  add("bound", std::move(bound));
  if (host.places.size() > 1) {
    add("bound_remote", std::move(bound_remote));
  } else {
    plan.omissions.push_back(
        "The service has a single NUMA node: bound instances have their own "
        "CPUs but the same memory, and bound_remote, the control with far "
        "memory, was left out.");
  }
}

// Plans the searches on each deployment.
absl::Status PlanSearches(const NumaOptions& options, NumaPlan& plan) {
  std::vector<std::string> objectives = {
      absl::StrFormat("cpu<=%g%%", options.cpu_percent)};
  if (!options.objective.empty()) objectives.push_back(options.objective);
  for (PlannedDeployment& deployment : plan.deployments) {
    for (const std::string& objective : objectives) {
      LoadSearchSpec spec = options.search;
      spec.set_knob("rate");
      spec.add_objectives(objective);
      absl::StatusOr<search::SearchPlan> search =
          search::PlanSearch(spec, deployment.test);
      if (!search.ok()) return search.status();
      deployment.searches.push_back(*std::move(search));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NumaPlan> PlanNumaComparison(
    const DistributedSystemDescription& test, const NumaOptions& options,
    const HostTopology& topology) {
  const absl::StatusOr<std::string> service =
      ChooseService(test, options.service);
  if (!service.ok()) return service.status();
  const std::string why = WhyUndeployable(test, *service);
  if (!why.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the test cannot be compared: ", why));
  }
  if (test.services_size() < 2) {
    return absl::InvalidArgumentError(
        "the test has only one service, which cannot generate its own load");
  }
  const absl::StatusOr<Host> host = DivideHost(options, topology);
  if (!host.ok()) return host.status();

  NumaPlan plan;
  const int cpu_count = static_cast<int>(host->service_cpus.size());
  const int node_count = static_cast<int>(host->places.size());
  const int instances = options.instances > 0 ? options.instances
                        : node_count > 1      ? node_count
                                              : std::min(2, cpu_count);
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
  const int asked_workers = options.workers > 0 ? options.workers : cpu_count;
  const int workers =
      std::max(instances, asked_workers / instances * instances);
  if (workers != asked_workers) {
    plan.omissions.push_back(absl::StrCat(
        workers, " workers instead of ", asked_workers,
        ", which cannot be divided equally among ", instances, " instances."));
  }
  if (host->generator_cpus.empty()) {
    plan.omissions.push_back(
        "No CPU is left for the load generators, so they share the service's "
        "CPUs and disturb it. --generator_cpus or --numa_nodes would set some "
        "apart.");
  }
  AddDeployments(test, *service, *host, instances, workers, plan);
  const absl::Status searches = PlanSearches(options, plan);
  if (!searches.ok()) return searches;
  return plan;
}

}  // namespace distbench::numa_compare
