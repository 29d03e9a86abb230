// A sequencer and its nodes on this host, each a process of its own.

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
  // Starts `program` (distbench) as a test_sequencer on a free port of
  // loopback, and as a node_manager nodeN for each element of node_flags, with
  // those flags. Returns when all are registered. The error has what the
  // process that failed said.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(
      const std::string& program,
      const std::vector<std::vector<std::string>>& node_flags,
      absl::Duration timeout = absl::Seconds(60));

  // Ends the processes; those that do not end in time are killed.
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
