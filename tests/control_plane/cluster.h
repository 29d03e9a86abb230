// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A sequencer, nodes and clients in one process, connected by real sockets,
// with engines that send no RPCs.

#ifndef TESTS_CONTROL_PLANE_CLUSTER_H_
#define TESTS_CONTROL_PLANE_CLUSTER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/client/test_client.h"
#include "distbench/hosting/testing/fake_engine.h"
#include "distbench/node/node_manager.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// How long a test waits for something that must happen.
inline constexpr absl::Duration kGenerous = absl::Seconds(20);

// Returns a test of `client_count` instances of "client" and one of "server".
DistributedSystemDescription ClientServerTest(const std::string& name,
                                              int client_count);

TestSequence SequenceOf(std::vector<DistributedSystemDescription> tests);

// A client that runs a sequence on its own thread.
class BackgroundRun {
 public:
  // The run ends with the client, unless the request says otherwise.
  BackgroundRun(const std::string& address, TestSequence sequence);
  BackgroundRun(const std::string& address, RunTestsRequest request);

  // Cancels the run if it has not ended.
  ~BackgroundRun();

  // Waits for an event of this kind; earlier events count as well.
  bool WaitFor(RunTestsEvent::EventCase kind) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the id is known.
  std::string run_id() ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<RunTestsEvent> events() const ABSL_LOCKS_EXCLUDED(mutex_);

  void Cancel();

  // Waits for the end of the run.
  absl::Status Finish();

  // Valid after Finish().
  const TestSequenceResults& results() const { return results_; }
  const TestResult& result(int index) const {
    return results_.test_results(index);
  }

 private:
  std::unique_ptr<client::TestClient> client_;
  TestSequenceResults results_;
  absl::Status status_;
  mutable absl::Mutex mutex_;
  std::vector<RunTestsEvent> events_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

class Cluster {
 public:
  explicit Cluster(sequencer::SequencerOptions options = {});
  ~Cluster();

  // RestartSequencer() starts another sequencer on the same port.
  void StopSequencer() { sequencer_ = nullptr; }
  void ShutDownSequencer() { sequencer_->Shutdown(); }
  void RestartSequencer();

  // Starts a node with fake engines. It uses the sequencer's port unless the
  // options say otherwise.
  absl::StatusOr<std::unique_ptr<node::NodeManager>> TryStartNode(
      node::NodeManagerOptions options = {});

  // Starts a node, which must succeed. The cluster keeps it.
  node::NodeManager& StartNode(node::NodeManagerOptions options = {});
  void StartNodes(int count);

  std::string address() const;
  sequencer::SequencerServer& sequencer() { return *sequencer_; }
  hosting::FakeEngineFactory& engines() { return engines_; }
  node::NodeManager& node(int index) { return *nodes_[index]; }

  // Connects, which must succeed.
  std::unique_ptr<client::TestClient> Connect() const;

  // Runs the sequence in the foreground.
  absl::Status Run(TestSequence sequence, TestSequenceResults& results) const;

  // Polls the status. Returns false if it was never as wanted.
  bool WaitForStatus(
      const std::function<bool(const GetStatusResponse&)>& is_wanted) const;
  bool WaitForNodeCount(int count) const;

  // Waits until the run has this state, and returns its description.
  RunDescription WaitForRun(const std::string& run_id,
                            RunDescription::State state) const;

 private:
  sequencer::SequencerOptions options_;
  hosting::FakeEngineFactory engines_;
  std::unique_ptr<sequencer::SequencerServer> sequencer_;
  int port_ = 0;
  std::vector<std::unique_ptr<node::NodeManager>> nodes_;
};

}  // namespace distbench

#endif  // TESTS_CONTROL_PLANE_CLUSTER_H_
