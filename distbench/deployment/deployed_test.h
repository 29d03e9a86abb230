// A test, changed so that one of its services can be deployed in several ways.

#ifndef DISTBENCH_DEPLOYMENT_DEPLOYED_TEST_H_
#define DISTBENCH_DEPLOYMENT_DEPLOYED_TEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The service to deploy: `asked` if that is not empty, else the only one that
// serves RPCs and has no main list. INVALID_ARGUMENT names the candidates.
absl::StatusOr<std::string> ChooseService(
    const DistributedSystemDescription& test, const std::string& asked);

// Whether the service can have any number of instances without a change of what
// they do together. INVALID_ARGUMENT says what is in the way.
absl::Status CheckDeployable(const DistributedSystemDescription& test,
                             const std::string& service);

// The test with that many instances of the service, each on a node of its own
// from node1 on, and all other instances on node0. RPCs to all instances go to
// one after the other instead. Samples are not kept.
DistributedSystemDescription DeployTest(
    const DistributedSystemDescription& test, const std::string& service,
    int instances, absl::string_view name);

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_DEPLOYED_TEST_H_
