// A sequencer and its nodes on this host, each in its own process.

#ifndef DISTBENCH_DEPLOYMENT_LOCAL_CLUSTER_H_
#define DISTBENCH_DEPLOYMENT_LOCAL_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace distbench {

class ServerProcess;

class LocalCluster {
 public:
  // Starts `program` (distbench) as a test_sequencer on a free loopback port,
  // and as one node_manager nodeN with each element of node_flags. Returns when
  // all nodes are registered. The error quotes the output of the process that
  // failed.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(
      const std::string& program,
      const std::vector<std::vector<std::string>>& node_flags,
      absl::Duration timeout = absl::Seconds(60));

  // Ends the processes, and kills those that do not end in time.
  ~LocalCluster();

  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // The sequencer's "HOST:PORT".
  const std::string& address() const { return address_; }

 private:
  LocalCluster() = default;

  std::string address_;
  std::vector<std::unique_ptr<ServerProcess>> processes_;
};

}  // namespace distbench

#endif  // DISTBENCH_DEPLOYMENT_LOCAL_CLUSTER_H_
