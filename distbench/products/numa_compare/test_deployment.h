// Changes a test so that one of its services can be deployed in several ways.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_TEST_DEPLOYMENT_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_TEST_DEPLOYMENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::numa_compare {

// Returns the service to deploy: `asked` unless it is empty, else the only
// service that serves RPCs and has no main list. The INVALID_ARGUMENT error
// names the candidates.
absl::StatusOr<std::string> ChooseService(
    const DistributedSystemDescription& test, const std::string& asked);

// Checks that the number of instances of the service does not change what they
// do together. The INVALID_ARGUMENT error names the obstacle.
absl::Status CheckDeployable(const DistributedSystemDescription& test,
                             const std::string& service);

// Returns the test with `instances` instances of the service, each on a node of
// its own from node1 on, and all other instances on node0. RPCs that went to
// all instances go to one of them in turn. Samples are not kept.
DistributedSystemDescription DeployTest(
    const DistributedSystemDescription& test, const std::string& service,
    int instances, absl::string_view name);

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_TEST_DEPLOYMENT_H_
