#include "distbench/products/numa_compare/numa_deployments.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/syntax/instance_names.h"
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

std::set<std::string> Servers(const DistributedSystemDescription& test) {
  std::set<std::string> servers;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    servers.insert(rpc.server());
  }
  return servers;
}

bool HasMainList(const DistributedSystemDescription& test,
                 const std::string& service) {
  return std::any_of(
      test.action_lists().begin(), test.action_lists().end(),
      [&](const ActionList& list) { return list.name() == service; });
}

absl::Status Undeployable(absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("the test cannot be compared: ", why));
}

// Returns the service to deploy: `asked` unless it is empty, else the only
// service that serves RPCs and has no main list. The error names the
// candidates.
absl::StatusOr<std::string> ChooseService(
    const DistributedSystemDescription& test, const std::string& asked) {
  const std::set<std::string> servers = Servers(test);
  if (!asked.empty()) {
    if (servers.contains(asked)) return asked;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", asked, "\" is not a service that receives RPCs; ",
                     "there are: ", absl::StrJoin(servers, ", ")));
  }
  std::vector<std::string> candidates;
  for (const std::string& server : servers) {
    if (!HasMainList(test, server)) candidates.push_back(server);
  }
  if (candidates.size() == 1) return candidates[0];
  return absl::InvalidArgumentError(absl::StrCat(
      "which service is to be deployed in different ways? Say --service=NAME: ",
      absl::StrJoin(candidates.empty() ? std::vector<std::string>(
                                             servers.begin(), servers.end())
                                       : candidates,
                    ", ")));
}

// Checks that the number of instances of the service does not change what they
// do together.
absl::Status CheckDeployable(const DistributedSystemDescription& test,
                             const std::string& service) {
  for (const ServiceSpec& spec : test.services()) {
    if (spec.name() != service) continue;
    if (config::IsOutside(spec)) {
      return Undeployable(absl::StrCat(service, " is external"));
    }
    if (spec.has_y_size()) {
      return Undeployable(absl::StrCat(service, " is a grid"));
    }
    if (!spec.multi_server_channels().empty()) {
      return Undeployable(absl::StrCat(service, " has multi-server channels"));
    }
  }
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    const std::string& filter = rpc.fanout_filter();
    if (rpc.server() != service || IsFanoutToOne(filter) ||
        IsFanoutToAll(filter)) {
      continue;
    }
    return Undeployable(absl::StrCat("the traffic of ", rpc.name(), " to ",
                                     service,
                                     " depends on the number of "
                                     "instances: fanout_filter ",
                                     filter));
  }
  for (const RpcReplayTrace& trace : test.rpc_replay_traces()) {
    if (trace.client() == service || trace.server() == service) {
      return Undeployable(absl::StrCat("the replay trace ", trace.name(),
                                       " names instances of ", service));
    }
  }
  return absl::OkStatus();
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

// A group of CPUs and the NUMA nodes whose memory is near to and far from it.
struct Place {
  base::IndexSet cpus;
  int near_node = 0;
  int far_node = 0;
};

// Properties shared by all deployments.
struct Host {
  std::vector<Place> places;
  base::IndexSet service_cpus;
  base::IndexSet generator_cpus;  // empty: shared with the service
  bool has_memory_nodes = false;
  bool has_far_memory = false;
};

// Returns the requested nodes, or all with usable CPUs and memory.
absl::StatusOr<base::IndexSet> ChooseNodes(const base::IndexSet& asked,
                                           const HostTopology& topology) {
  base::IndexSet usable = base::Intersection(
      numa::NodesOfCpus(topology, numa::IndicesOf(topology.allowed_cpus())),
      numa::IndicesOf(topology.allowed_memory_nodes()));
  std::erase_if(usable, [&](int node) {
    return numa::FindNumaNode(topology, node)->memory_bytes() <= 0;
  });
  if (asked.empty()) return usable;
  const base::IndexSet known = numa::NumaNodeIds(topology);
  const base::IndexSet unusable =
      base::Without(base::Intersection(asked, known), usable);
  if (!unusable.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("NUMA node ", *unusable.begin(),
                     " has no usable CPUs or no usable memory; the host has: ",
                     numa::DescribeTopology(topology)));
  }
  const base::IndexSet missing = base::Without(asked, known);
  if (missing.empty()) return asked;
  return absl::FailedPreconditionError(
      absl::StrCat("the host has no NUMA node ", base::FormatIndexList(missing),
                   "; it has: ", numa::DescribeTopology(topology)));
}

// Returns the tested node that is farthest from this one, or the node itself if
// it is the only one.
int FarthestNode(int node, const base::IndexSet& tested,
                 const HostTopology& topology) {
  const auto& distances = numa::FindNumaNode(topology, node)->distances();
  int farthest = node;
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

// Splits the CPUs of one node into parts of about equal size, keeping
// neighbours together.
std::vector<Place> Split(const base::IndexSet& cpus, int node, int parts) {
  std::vector<Place> places;
  auto next = cpus.begin();
  for (int part = 0; part < parts; ++part) {
    const auto end = std::next(
        cpus.begin(), static_cast<int64_t>(cpus.size()) * (part + 1) / parts);
    places.push_back({base::IndexSet(next, end), node, node});
    next = end;
  }
  return places;
}

absl::Status CheckGeneratorCpus(const base::IndexSet& cpus,
                                const HostTopology& topology) {
  const base::IndexSet missing =
      base::Without(cpus, numa::IndicesOf(topology.allowed_cpus()));
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the generators cannot use CPUs ", base::FormatIndexList(missing),
      "; there are ", topology.allowed_cpus()));
}

// Describes the host with whole nodes as places; Split() may divide them later.
absl::StatusOr<Host> LookAt(const NumaDeploymentOptions& options,
                            const HostTopology& topology) {
  const absl::StatusOr<base::IndexSet> nodes =
      ChooseNodes(options.numa_nodes, topology);
  if (!nodes.ok()) return nodes.status();
  absl::Status status = CheckGeneratorCpus(options.generator_cpus, topology);
  if (!status.ok()) return status;
  const base::IndexSet allowed = numa::IndicesOf(topology.allowed_cpus());
  Host host;
  host.has_memory_nodes = !nodes->empty();
  const base::IndexSet tested =
      nodes->empty()
          ? allowed
          : base::Intersection(numa::CpusOfNodes(topology, *nodes), allowed);
  host.service_cpus = base::Without(tested, options.generator_cpus);
  host.generator_cpus = options.generator_cpus.empty()
                            ? base::Without(allowed, tested)
                            : options.generator_cpus;
  for (const int node : *nodes) {
    const base::IndexSet cpus = base::Intersection(
        numa::CpusOfNodes(topology, {node}), host.service_cpus);
    if (cpus.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the generators take all CPUs of NUMA node ", node,
                       "; leave some to the service"));
    }
    const int far_node = FarthestNode(node, *nodes, topology);
    host.has_far_memory |= far_node != node;
    host.places.push_back({cpus, node, far_node});
  }
  if (host.places.empty()) host.places.push_back({host.service_cpus, 0, 0});
  return host;
}

std::string CpusFlag(const base::IndexSet& cpus) {
  return absl::StrCat("--cpus=", base::FormatIndexList(cpus));
}

std::string WorkersFlag(int workers) {
  return absl::StrCat("--workers=", workers);
}

class Planner {
 public:
  Planner(const DistributedSystemDescription& test, const Host& host,
          int instances, int workers, DeploymentPlan& plan)
      : test_(test),
        host_(host),
        instances_(instances),
        workers_(workers),
        plan_(plan) {}

  void Plan() {
    Add("one_unbound", 1, [&](int) { return UnboundFlags(); });
    if (instances_ < 2) {
      plan_.omissions.push_back(
          "The service has a single CPU, so there is nothing to divide among "
          "instances: only one_unbound was run.");
      return;
    }
    Add("unbound", instances_, [&](int) { return UnboundFlags(); });
    Add("bound", instances_,
        [&](int i) { return BoundFlags(PlaceOf(i), PlaceOf(i).near_node); });
    if (host_.has_far_memory) {
      Add("bound_remote", instances_,
          [&](int i) { return BoundFlags(PlaceOf(i), PlaceOf(i).far_node); });
    } else {
      plan_.omissions.push_back(
          "The service has a single NUMA node: bound instances have their own "
          "CPUs but the same memory, and bound_remote, the control with far "
          "memory, was left out.");
    }
  }

 private:
  template <typename Flags>
  void Add(const std::string& name, int instances, Flags flags_of) {
    PlannedDeployment& deployment = plan_.deployments.emplace_back();
    deployment.name = name;
    deployment.instances = instances;
    deployment.workers_per_instance = workers_ / instances;
    deployment.test = DeployTest(test_, plan_.service, instances, name);
    deployment.node_flags.push_back(GeneratorFlags(deployment.test));
    for (int i = 0; i < instances; ++i) {
      std::vector<std::string> flags = flags_of(i);
      flags.push_back(WorkersFlag(deployment.workers_per_instance));
      deployment.node_flags.push_back(std::move(flags));
    }
  }

  // The first instances get the first place.
  const Place& PlaceOf(int instance) const {
    const int count = static_cast<int>(host_.places.size());
    return host_.places[static_cast<int64_t>(instance) * count / instances_];
  }

  // Allows any of the service's CPUs, with memory where the kernel puts it.
  std::vector<std::string> UnboundFlags() const {
    return {CpusFlag(host_.service_cpus), "--mem_policy=local"};
  }

  std::vector<std::string> BoundFlags(const Place& place, int memory) const {
    std::vector<std::string> flags = {CpusFlag(place.cpus)};
    if (host_.has_memory_nodes) {
      flags.push_back("--mem_policy=bind");
      flags.push_back(absl::StrCat("--mem_nodes=", memory));
    }
    return flags;
  }

  // These are the same in all deployments.
  std::vector<std::string> GeneratorFlags(
      const DistributedSystemDescription& test) const {
    const base::IndexSet& cpus = host_.generator_cpus.empty()
                                     ? host_.service_cpus
                                     : host_.generator_cpus;
    const int count =
        std::max(1, test.node_service_bundles().at("node0").services_size());
    return {CpusFlag(cpus), "--mem_policy=local",
            WorkersFlag(std::max(1, static_cast<int>(cpus.size()) / count))};
  }

  const DistributedSystemDescription& test_;
  const Host& host_;
  const int instances_;
  const int workers_;
  DeploymentPlan& plan_;
};

}  // namespace

absl::StatusOr<DeploymentPlan> PlanNumaDeployments(
    const DistributedSystemDescription& test,
    const NumaDeploymentOptions& options, const HostTopology& topology) {
  DeploymentPlan plan;
  absl::StatusOr<std::string> service = ChooseService(test, options.service);
  if (!service.ok()) return service.status();
  plan.service = *std::move(service);
  absl::Status status = CheckDeployable(test, plan.service);
  if (!status.ok()) return status;
  if (test.services_size() < 2) {
    return absl::InvalidArgumentError(
        "the test has only one service, which cannot generate its own load");
  }
  absl::StatusOr<Host> host = LookAt(options, topology);
  if (!host.ok()) return host.status();

  const int cpu_count = static_cast<int>(host->service_cpus.size());
  const int node_count = static_cast<int>(host->places.size());
  const int instances = options.instances > 0 ? options.instances
                        : node_count > 1      ? node_count
                                              : std::min(2, cpu_count);
  if (instances % node_count != 0 && node_count > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(instances, " instances cannot be divided equally among ",
                     node_count, " NUMA nodes; choose a multiple"));
  }
  if (instances > cpu_count) {
    return absl::InvalidArgumentError(
        absl::StrCat(instances, " instances are more than the service's ",
                     cpu_count, " CPUs"));
  }
  if (node_count == 1) {
    host->places =
        Split(host->service_cpus, host->places[0].near_node, instances);
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
  Planner(test, *host, instances, workers, plan).Plan();
  return plan;
}

}  // namespace distbench::numa_compare
