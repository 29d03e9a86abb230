// A sequencer and its nodes on this host, each in its own process.

#ifndef DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_
#define DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/child_process.h"
#include "distbench/base/files.h"
#include "distbench/base/wakeup.h"
#include "distbench/security/tls_files.h"

namespace distbench::numa_compare {

// A program that says when it is ready. It ends with this process at the
// latest. Its output is read at once, so that it never waits for that, and the
// last of it is kept.
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
                                          absl::Time deadline)
      ABSL_LOCKS_EXCLUDED(mutex_);

  void Terminate();

 private:
  ServerProcess(base::ChildProcess process, base::FileDescriptor output,
                std::string name);

  void ReadOutput() ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<std::string> LineWith(absl::string_view text) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::ChildProcess process_;
  const base::FileDescriptor output_;
  const std::string name_;

  absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);  // the last of the output
  bool is_at_end_ ABSL_GUARDED_BY(mutex_) = false;

  base::Wakeup end_of_reading_;
  std::thread reader_;
};

class LocalCluster {
 public:
  // Starts `program` (distbench) as a test_sequencer on a free loopback port,
  // and as one node_manager nodeN with each element of node_flags. They have a
  // secret, so that no other user of the host can submit tests; the traffic of
  // tests is as it is without one. Returns when all nodes are registered. The
  // error quotes the output of the process that failed.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Start(
      const std::string& program,
      const std::vector<std::vector<std::string>>& node_flags,
      absl::Duration timeout = absl::Seconds(60));

  // Ends the processes, and kills those that do not end in time.
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

  // Starts distbench with these arguments, and with the secret.
  absl::Status StartProcess(std::vector<std::string> arguments);

  std::string address_;
  security::TlsFilesInMemory secret_;
  security::TlsFiles tls_;
  std::vector<std::unique_ptr<ServerProcess>> processes_;
};

}  // namespace distbench::numa_compare

#endif  // DISTBENCH_PRODUCTS_NUMA_COMPARE_LOCAL_CLUSTER_H_
