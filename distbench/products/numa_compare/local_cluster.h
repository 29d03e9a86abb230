// A sequencer and its nodes on this host, each in its own process.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"

namespace distbench::numa_compare {

// A program that says when it is ready. It ends with this process at the
// latest. Its output is read when somebody waits for it. Not thread-safe.
class ServerProcess {
 public:
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(
      const std::vector<std::string>& arguments);

  // Ends it by SIGTERM; by SIGKILL if it is still there after some seconds.
  ~ServerProcess();

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Waits for a line of output (stdout or stderr) that contains the text, and
  // returns the line. The error quotes the output instead.
  absl::StatusOr<std::string> WaitForLine(absl::string_view text,
                                          absl::Time deadline);

  void Terminate();

 private:
  ServerProcess(base::ChildProcess process, base::FileDescriptor output,
                std::string name);

  // Returns false at the end of the output, or if there is none by the
  // deadline.
  bool ReadSome(absl::Time deadline);

  const base::ChildProcess process_;
  const base::FileDescriptor output_;
  const std::string name_;
  std::string text_;
};

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

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_
