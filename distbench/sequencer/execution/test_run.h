// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The stages of a test: prepare, connect, start, traffic, collect, release.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_TEST_RUN_H_
#define DISTBENCH_SEQUENCER_EXECUTION_TEST_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/results/recent_traffic.h"
#include "distbench/security/test_guards.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/execution/run_inbox.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// How long nodes may take for each step.
struct StepTimeouts {
  absl::Duration prepare = absl::Seconds(60);
  absl::Duration connect = absl::Seconds(30);
  absl::Duration start = absl::Seconds(10);
  absl::Duration stop = absl::Seconds(10);
  absl::Duration collect = absl::Seconds(60);  // for the next piece
  // Longer than connect: a stack that is busy connecting may respond only
  // later.
  absl::Duration release = absl::Seconds(40);
};

struct TestRunSpec {
  // Unique among the tests of a sequencer.
  int64_t test_id = 0;

  // Canonical, with its seed.
  DistributedSystemDescription test;
  std::vector<NodeShare> shares;

  // Limits the duration of the traffic.
  absl::Duration timeout;

  // What each instance may do at most.
  security::InstanceLimits limits = {};

  // Memory for copies of the test that are on the way to nodes; one is, anyhow.
  size_t prepare_bytes = 256 << 20;

  // What the result has room for of the use of nodes' resources, second by
  // second. The result, without logs, is one message of less than 2 GiB.
  size_t resource_bytes = 512 << 20;
};

// Observes a test. Called on the thread that runs it.
class TestRunObserver {
 public:
  virtual ~TestRunObserver() = default;

  // Traffic is about to start.
  virtual void OnStarted() = 0;

  // Totals of all nodes, once a second and at the end.
  virtual void OnProgress(const TrafficProgress& progress) = 0;

  // A piece of the measurements. May block while there is no room for it. The
  // error says what is wrong with the piece; its node is then lost.
  virtual absl::Status OnResultChunk(ResultChunk chunk) = 0;
};

// One execution of a test by its nodes; a report's TestRun is its outcome.
//
// Sends each step to the nodes, and waits until they have finished it or a
// deadline has passed. Any error ends the test early: the remaining nodes stop
// their traffic, hand over their measurements, and are then ready for the next
// test. Nodes that cannot even do that are disconnected.
class TestExecution {
 public:
  // `clock` and `observer` must outlive the run. A cancellation in the inbox
  // ends the run early; measurements up to then are kept.
  TestExecution(TestRunSpec spec, const StepTimeouts& timeouts,
                const base::Clock& clock, std::shared_ptr<RunInbox> inbox,
                TestRunObserver& observer);

  // Runs the test to its end. Call it once. Returns the result without
  // service_logs (see OnResultChunk()) and without summary; run_info says what
  // went wrong.
  TestResult Run();

  // Why the test did not run to its end; OK if it did.
  const absl::Status& failure() const { return failure_; }

  // Why the end of the test was requested, even if it had failed before; OK if
  // it was not.
  const absl::Status& cancellation() const { return cancellation_; }

 private:
  // The steps. They end early if the test fails.
  void Prepare();
  void Connect();
  void Start();
  void AwaitTraffic();

  // The final steps, which a failed test goes through, too.
  void StopTraffic();
  void Collect();
  void Release();
  TestResult Finish();

  int64_t ClockCorrection(const Participant& participant);

  // Tell() begins the step, and sends its command; SendTo() sends any. Their
  // content is what mutable_content() makes.
  template <typename Content>
  void Tell(Participant& participant, Step step,
            Content* (NodeCommand::*mutable_content)(), Content content);
  template <typename Content>
  void SendTo(Participant& participant,
              Content* (NodeCommand::*mutable_content)(), Content content);

  // Waits until all but so many nodes have finished the step. A late node fails
  // the test.
  void AwaitOrFail(Step step, absl::Duration timeout, size_t most_left = 0);

  // Also continues after a failure, and disconnects late nodes.
  void AwaitOrDisconnect(Step step, absl::Duration timeout);
  void DisconnectWhoAwaits(Step step, absl::Duration timeout);

  // Handles the next event, if one comes before the deadline, and returns
  // whether one came.
  bool HandleNext(int64_t deadline_ns);
  void HandleMessage(Participant& participant, NodeMessage message);
  void HandlePrepareReply(Participant& participant, PrepareReply reply);
  void HandleStartReply(Participant& participant, const StartReply& reply);
  void HandleChunk(Participant& participant, ResultChunk chunk);
  void HandleCollectReply(Participant& participant, CollectReply reply);
  void KeepResources(const Participant& participant, NodeResources resources);
  void HandleLoss(Participant& participant, const std::string& reason);

  // Disconnects a node that sends nonsense, which costs its own measurements.
  void Distrust(Participant& participant, absl::string_view reason);

  // The node has finished the step, or says why it could not. A node whose own
  // traffic has finished may still report an error that ends the traffic of
  // others.
  void Complete(Participant& participant, Step step,
                const CommandStatus& status);

  // Only the first failure is kept.
  void FailOfTimeout();
  void Fail(absl::Status status);

  // When it is known which nodes are gone.
  void ReportLosses();
  void ReportDroppedResources();
  void AddFinding(Finding::Severity severity, absl::string_view code,
                  std::string message, std::string advice);
  void ReportProgress();
  int64_t DeadlineNs(absl::Duration timeout) const;

  const TestRunSpec spec_;
  const StepTimeouts timeouts_;
  const base::Clock& clock_;
  const std::shared_ptr<RunInbox> inbox_;
  TestRunObserver& observer_;

  Participants participants_;
  results::RecentTraffic recent_;
  Step current_step_ = Step::kPrepare;
  TestResult result_;
  LostNodes lost_nodes_;
  int64_t lost_rpc_count_ = 0;   // that these had counted
  size_t resource_bytes_ = 0;    // in the result
  NodeNames without_resources_;  // for which there was no room
  absl::Status failure_;
  bool failed_by_loss_ = false;
  Step failed_step_ = Step::kPrepare;  // in which a loss was the failure
  absl::Status cancellation_;          // the first
  bool started_ = false;
  int64_t traffic_deadline_ns_ = 0;  // monotonic
  int64_t last_piece_ns_ = 0;        // when a piece of a result last arrived
  RUsage usage_at_start_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_TEST_RUN_H_
