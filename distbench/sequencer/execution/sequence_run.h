// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Executes a test sequence, when it is its turn in the queue.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_SEQUENCE_RUN_H_
#define DISTBENCH_SEQUENCER_EXECUTION_SEQUENCE_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/security/test_guards.h"
#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/execution/run_inbox.h"
#include "distbench/sequencer/execution/test_outcomes.h"
#include "distbench/sequencer/execution/test_run.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/runs/run_queue.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_state.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// How long a run waits for nodes that it, or one shortly before it, has lost.
struct NodePatience {
  // Until they have registered again. If a test has waited in vain, those after
  // it do not wait, until one can be placed again.
  absl::Duration until_back = absl::Seconds(7);

  // From then on until the test: the clock of a node is measured when it
  // registers, and others may come back at the same time.
  absl::Duration until_known = absl::Milliseconds(500);
};

// Shared by all runs of a sequencer; must outlive them.
struct RunEnvironment {
  NodeRegistry& registry;
  RunStatus& status;
  const base::Clock& clock;
  StepTimeouts timeouts;

  // Revision of the source of this build; empty if it is not known.
  std::string revision;

  // Called after a sequence with shutdown_after_tests.
  std::function<void()> on_shutdown_request;

  // Decide which tests may run, and what their instances may do.
  security::TestGuards guards = {};

  // Memory for what the summary of the running test is made from.
  int64_t summary_bytes = 128 << 20;

  NodePatience patience = {};

  std::atomic<int64_t> next_test_id = 1;
  TestOutcomes outcomes = {};
};

class SequenceRun final : public QueuedRun {
 public:
  // `sequence` must be the return value of CheckTestSequence(). For
  // known_findings, see RunSubmission.
  SequenceRun(TestSequence sequence,
              std::map<int, std::vector<Finding>> known_findings,
              RunEnvironment& environment, std::shared_ptr<RunRecord> record);

  void OnQueuePosition(int ahead) override;

  // Refuses the whole sequence (FAILED_PRECONDITION, NOT_FOUND) if one of its
  // tests cannot be placed on the registered nodes, and on those that may come
  // back because they have just been lost. A test that fails later does not
  // prevent the next one from running, which waits for lost nodes.
  void Run() override;
  void Cancel(const absl::Status& reason) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Drop(const absl::Status& reason) override;

 private:
  // A test with everything that its placement decides.
  struct PlacedTest {
    DistributedSystemDescription test;
    std::vector<NodeShare> shares;
  };

  absl::StatusOr<PlacedTest> Place(int test_index) const;
  absl::Status CheckPlacement() const;
  absl::Status CheckPlacementOnceNodesAreBack() ABSL_LOCKS_EXCLUDED(mutex_);

  // Places a test that could be placed when the run began: if nodes are missing
  // now, waits for them. Only a cancellation ends that early.
  absl::StatusOr<PlacedTest> PlaceOnceNodesAreBack(int test_index)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls `try_again`, and again after each registration until it returns true,
  // the deadline of the monotonic clock is over or the run is cancelled.
  void AwaitNodes(int64_t deadline_ns, absl::FunctionRef<bool()> try_again)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns whether one has registered since the last call, or does so before
  // the deadline, and the run goes on.
  bool AwaitNewNode(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnNewNode() ABSL_LOCKS_EXCLUDED(mutex_);

  // An error ends the sequence.
  absl::Status RunTest(int test_index);
  void AddKnownFindings(int test_index, TestResult& result) const;
  absl::Status FinishUnstarted(int test_index, const absl::Status& reason);

  // Returns the inbox of the next test; the error says why there is none.
  absl::StatusOr<std::shared_ptr<RunInbox>> OpenInbox()
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status cancel_reason() const ABSL_LOCKS_EXCLUDED(mutex_);

  TestSequence sequence_;
  const std::map<int, std::vector<Finding>> known_findings_;
  RunEnvironment& environment_;
  const std::shared_ptr<RunRecord> record_;

  // Whether the last test could not be placed, although it or one before it has
  // waited for its nodes.
  bool nodes_stay_away_ = false;

  mutable absl::Mutex mutex_;
  bool has_new_node_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status cancel_reason_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<RunInbox> inbox_ ABSL_GUARDED_BY(mutex_);
};

// Keeps what thousands of nodes found from hiding everything else.

// The most findings of one code and severity that a result lists.
inline constexpr int kMostFindingsOfAKind = 100;

// Keeps the first findings of each kind, and replaces the rest of a kind by one
// finding that counts them.
void LimitFindings(RunInfo& info);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_SEQUENCE_RUN_H_
