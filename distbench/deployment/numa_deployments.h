// The ways in which a comparison deploys a test on the NUMA nodes of a host.

#ifndef DISTBENCH_DEPLOYMENT_NUMA_DEPLOYMENTS_H_
#define DISTBENCH_DEPLOYMENT_NUMA_DEPLOYMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/index_list.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct NumaDeploymentOptions {
  // The service that is deployed in different ways; all others generate its
  // load. Empty: the only one that serves RPCs and has no main list.
  std::string service;

  // The NUMA nodes that it runs on. Empty: all that have CPUs and memory.
  IndexSet numa_nodes;

  // CPUs of the load generators. Empty: those of other nodes; if there are
  // none, generators share the CPUs with the service.
  IndexSet generator_cpus;

  // Instances of all deployments but the first. 0: one for each node, or two on
  // a single node.
  int instances = 0;

  // Of all instances together. 0: one for each CPU that the service has.
  int workers = 0;
};

struct PlannedDeployment {
  // As in NumaDeployment.
  std::string name;
  int instances = 1;
  int workers_per_instance = 1;

  // Canonical; placed by node_service_bundles.
  DistributedSystemDescription test;

  // Flags of the node managers: node0 hosts the generators, nodeN the service's
  // instance N - 1.
  std::vector<std::vector<std::string>> node_flags;
};

struct DeploymentPlan {
  std::string service;
  std::vector<PlannedDeployment> deployments;

  // What this host does not allow to compare, or not well; a sentence each.
  std::vector<std::string> omissions;
};

// `test`: canonical. All deployments have the same CPUs, the same total of
// workers, and the same load: each RPC to the service goes to one of its
// instances. INVALID_ARGUMENT or FAILED_PRECONDITION if the test, the options
// and the host do not fit together.
absl::StatusOr<DeploymentPlan> PlanNumaDeployments(
    const DistributedSystemDescription& test,
    const NumaDeploymentOptions& options, const HostTopology& topology);

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_NUMA_DEPLOYMENTS_H_
