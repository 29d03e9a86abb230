// Plans the deployments of a test on the NUMA nodes of a host.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_DEPLOYMENTS_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_DEPLOYMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/index_list.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa_compare {

struct NumaDeploymentOptions {
  // The service to deploy in different ways; all others generate its load. If
  // empty, the only service that serves RPCs and has no main list.
  std::string service;

  // NUMA nodes for the service. If empty, all that have CPUs and memory.
  base::IndexSet numa_nodes;

  // CPUs of the load generators. If empty, those of other nodes; if there are
  // none, generators share the CPUs with the service.
  base::IndexSet generator_cpus;

  // Instances in all deployments but the first. If 0, one per node, or two on a
  // single node.
  int instances = 0;

  // Workers of all instances together. If 0, one per CPU of the service.
  int workers = 0;
};

struct PlannedDeployment {
  // A name of NumaDeployment.
  std::string name;
  int instances = 1;
  int workers_per_instance = 1;

  // Canonical; node_service_bundles place the instances.
  DistributedSystemDescription test;

  // Flags of the node managers: node0 hosts the generators, and nodeN hosts the
  // service's instance N - 1.
  std::vector<std::vector<std::string>> node_flags;
};

struct DeploymentPlan {
  std::string service;
  std::vector<PlannedDeployment> deployments;

  // Comparisons that this host does not allow, or not well; one sentence each.
  std::vector<std::string> omissions;
};

// Plans the deployments of a canonical test. All of them have the same CPUs,
// the same total of workers and the same load: each RPC to the service goes to
// one of its instances. Returns INVALID_ARGUMENT or FAILED_PRECONDITION if the
// test, the options and the host do not fit together.
absl::StatusOr<DeploymentPlan> PlanNumaDeployments(
    const DistributedSystemDescription& test,
    const NumaDeploymentOptions& options, const HostTopology& topology);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_NUMA_DEPLOYMENTS_H_
