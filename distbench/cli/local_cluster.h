// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A sequencer and its nodes on this host, each in its own process, for commands
// that run tests of their own.

#ifndef DISTBENCH_CLI_LOCAL_CLUSTER_H_
#define DISTBENCH_CLI_LOCAL_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/security/tls_files.h"

namespace distbench::cli {

class LocalCluster {
 public:
  // Starts `program` (distbench) as a test_sequencer on a free loopback port,
  // and as one node_manager nodeN with each element of node_flags. They have a
  // secret, so that no other user of the host can submit tests; the traffic of
  // tests is as it is without one. They end with this process at the latest.
  // Returns when all nodes are registered. The error quotes the output of the
  // process that failed; what they say later is lost.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(
      const std::string& program,
      const std::vector<std::vector<std::string>>& node_flags,
      absl::Duration timeout = absl::Seconds(60));

  // Ends the processes by SIGTERM, and kills those that do not end in time.
  ~LocalCluster();

  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // The sequencer's "HOST:PORT", and what its clients need, while this object
  // exists.
  const std::string& address() const { return address_; }
  const security::TlsFiles& tls() const { return tls_; }

 private:
  LocalCluster() = default;

  absl::Status MakeSecret();

  // Starts distbench with these arguments, and with the secret. Returns from
  // where to read its output.
  absl::StatusOr<base::FileDescriptor> StartProcess(
      std::vector<std::string> arguments);

  std::string address_;
  security::TlsFilesInMemory secret_;
  security::TlsFiles tls_;
  std::vector<base::ChildProcess> processes_;  // the sequencer, then the nodes
};

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_LOCAL_CLUSTER_H_
