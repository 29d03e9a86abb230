// The test sequencer: nodes register with it, clients submit tests to it.

#ifndef DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_
#define DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/security/authorization.h"
#include "distbench/security/credentials.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_disk.h"
#include "proto/control.pb.h"

namespace grpc {
class Channel;
}

namespace distbench {

struct SequencerOptions {
  // Address to listen on, such as "localhost", "10.0.0.1" or "::1"; empty: all
  // interfaces.
  std::string listen_address;

  // 0 picks a free port.
  int port = 10000;

  // Secures connections; null: not at all.
  std::shared_ptr<const TlsCredentials> tls;

  // Who may do what; of use with TLS and client certificates only.
  AccessRules access;

  // Nodes at the same time.
  int max_nodes = 10'000;

  // Port of the metrics; absent: none; 0: a free one.
  std::optional<int> metrics_port;

  // A node that says nothing is lost within this time, and in turn takes the
  // sequencer for lost.
  absl::Duration node_silence_timeout = absl::Seconds(5);

  // Of the source that this was built from, for results; empty if not known.
  std::string revision;

  // Where runs and their results are kept (see RunDirectory); empty: in memory.
  std::string results_dir;

  // In place of results_dir, if there is one.
  std::shared_ptr<RunDisk> disk;

  RunLimits run_limits;

  // About what messages may take that are being received, and connections
  // with them: beyond it gRPC breaks calls off, whosever they are. Absent: half
  // of what the host or the control group allows; no limit if that is not
  // known.
  std::optional<int64_t> receive_memory_bytes;

  // Called once, when a client's test sequence with shutdown_after_tests has
  // ended and all nodes have been told to end. On a thread of the server, which
  // it must not destroy or shut down.
  std::function<void()> on_shutdown_request = [] {};
};

// Thread-safe.
class SequencerServer {
 public:
  // Returns once the port accepts connections. The error says what is wrong
  // with the address, or that the port is in use.
  static absl::StatusOr<std::unique_ptr<SequencerServer>> Start(
      SequencerOptions options);

  // Shuts down.
  ~SequencerServer();

  SequencerServer(const SequencerServer&) = delete;
  SequencerServer& operator=(const SequencerServer&) = delete;

  // The port that it listens on.
  int port() const;

  // Those of an earlier sequencer with the same results_dir that had not ended.
  const std::vector<RunDescription>& interrupted_runs() const;

  // 0: none.
  int metrics_port() const;

  // A channel to this server for clients and nodes in the same process, which
  // must be gone before the server is.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Ends the test that runs and keeps what it measured, as far as that takes
  // no longer than a few seconds, and drops the runs that wait. Clients are
  // told why. No run is taken any more. Idempotent.
  void EndRuns();

  // Ends runs, and closes all sessions and the port. Nodes wait for a sequencer
  // to come back. Idempotent.
  void Shutdown();

 private:
  class Impl;
  explicit SequencerServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_SERVING_SEQUENCER_SERVER_H_
