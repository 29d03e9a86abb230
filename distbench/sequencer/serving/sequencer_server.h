// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The test sequencer: nodes register with it, and clients submit tests to it.

#ifndef DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_
#define DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/security/authorization.h"
#include "distbench/security/credentials.h"
#include "distbench/security/test_guards.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"

namespace grpc {
class Channel;
}

namespace distbench::sequencer {

struct SequencerOptions {
  // Address to listen on, such as "localhost", "10.0.0.1" or "::1"; empty: all
  // interfaces.
  std::string listen_address;

  // 0 picks a free port.
  int port = 10000;

  // Credentials for TLS; null: connections are not secured.
  std::shared_ptr<const security::TlsCredentials> tls;

  // What each client may do; effective only with TLS and client certificates.
  security::AccessRules access;

  // Decide which tests may run.
  security::TestGuards guards;

  // How many nodes may be registered at the same time.
  int max_nodes = 10'000;

  // Port of the metrics; absent: no metrics; 0: a free port.
  std::optional<int> metrics_port;

  // A silent node is declared lost within this time, and the node treats a
  // silent sequencer the same way.
  absl::Duration node_silence_timeout = absl::Seconds(5);

  // Revision of the source of this build, for results; empty if not known.
  std::string revision;

  // Where runs and their results are kept (see RunDirectory); empty: in
  // temporary files, until the sequencer ends.
  std::string results_dir;

  // Used instead of results_dir if not null.
  std::shared_ptr<RunDisk> disk;

  // At least 32 MiB of memory for what the summary of the running test is made
  // from, and as much as this.
  int64_t results_memory_bytes = int64_t{128} << 20;

  // The number of ended runs is less if the process may have few files open.
  RunLimits run_limits;

  // Approximate limit of the memory for messages that are being received,
  // including their connections. Beyond it gRPC aborts calls, regardless of
  // whose they are. Absent: half of the memory that the host or the control
  // group allows, or no limit if that is not known.
  std::optional<int64_t> receive_memory_bytes;

  // Called once, when a test sequence with shutdown_after_tests has ended and
  // all nodes have been told to shut down. Called on a thread of the server; it
  // must not destroy the server or shut it down.
  std::function<void()> on_shutdown_request = [] {};
};

// Thread-safe.
class SequencerServer {
 public:
  // Returns when the port accepts connections. The error says what is wrong
  // with the address, or that the port is in use.
  static absl::StatusOr<std::unique_ptr<SequencerServer>> Start(
      SequencerOptions options);

  // Shuts down.
  virtual ~SequencerServer() = default;

  // The port on which the server listens.
  virtual int port() const = 0;

  // Runs of an earlier sequencer with the same results_dir that had not ended.
  virtual const std::vector<RunDescription>& interrupted_runs() const = 0;

  // 0: no metrics.
  virtual int metrics_port() const = 0;

  // A channel to this server for clients and nodes in the same process. It must
  // be destroyed before the server.
  virtual std::shared_ptr<grpc::Channel> InProcessChannel() = 0;

  // What goes on, for views in this process; none of these waits for the disk.
  // Runs that have not ended are listed oldest first.
  virtual GetStatusResponse Status() const = 0;
  virtual std::vector<RunDescription> UnfinishedRuns() const = 0;
  virtual bool IsTestRunning() const = 0;

  // Ends a waiting or running run; its measurements so far are kept. `who` is
  // named as the one who did it. NOT_FOUND if there is no such run,
  // FAILED_PRECONDITION if it has ended, UNAVAILABLE if the disk does not tell
  // in time.
  virtual absl::Status CancelRun(const std::string& run_id,
                                 const std::string& who) = 0;

  // Ends the current test and keeps its measurements if that takes only a few
  // seconds, and drops the waiting runs. Clients are told why. No new runs are
  // accepted. Idempotent.
  virtual void EndRuns() = 0;

  // Registers no more nodes, tells all nodes to end, and waits up to `patience`
  // until they have left. They do not come back. Returns whether all have left.
  virtual bool EndNodes(absl::Duration patience) = 0;

  // Ends all runs, and closes all sessions and the port. Nodes wait for a
  // sequencer to come back. Idempotent.
  virtual void Shutdown() = 0;
};

// How many nodes a sequencer can take.

// Files that a sequencer needs besides one for each node and for each ended
// run: for clients, for the running test, and for nodes that are refused or
// that come back.
inline constexpr int64_t kFilesBesidesNodes = 200;

// How many ended runs a sequencer without results_dir remembers, of which each
// may have a file open: as many as the limit, or a quarter of the files.
int LimitEndedRuns(int max_runs, int64_t max_open_files);

// max_nodes, or fewer if the process may not have that many files open: a
// sequencer without files could not serve its clients either. Always at least
// one.
NodeLimit LimitNodes(int max_nodes, int64_t files_of_runs,
                     int64_t max_open_files);

// The number of files that this process may have open.
int64_t MaxOpenFiles();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_
