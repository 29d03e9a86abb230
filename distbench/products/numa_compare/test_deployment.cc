#include "distbench/products/numa_compare/test_deployment.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/config/syntax/instance_names.h"

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

}  // namespace

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

}  // namespace distbench::numa_compare
