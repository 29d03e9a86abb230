// The interface that receives the events of a run.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_CLIENT_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_CLIENT_H_

#include "absl/status/status.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// Methods are called by one thread at a time, in this order: queue positions,
// run started, then for each test set up, started, progress, chunks and
// finished, then done.
class RunClient {
 public:
  virtual ~RunClient() = default;

  // Must not block.
  virtual void OnQueuePosition(int ahead) = 0;

  virtual void OnRunStarted() = 0;

  // The test is about to be set up; its traffic starts later, if at all.
  virtual void OnTestSetUp(int test_index) = 0;
  virtual void OnTestStarted(int test_index, const TestStarted& started) = 0;
  virtual void OnProgress(int test_index, const TrafficProgress& progress) = 0;

  // A piece of the result. May block while there is no room for it. After an
  // error, nobody takes the rest of the test's result.
  virtual absl::Status OnResultChunk(int test_index, ResultChunk chunk) = 0;

  // The test has ended; `result` has no service_logs. An error ends the
  // sequence.
  virtual absl::Status OnTestFinished(int test_index, TestResult result) = 0;

  // The sequence has ended.
  virtual void OnSequenceDone(const absl::Status& status) = 0;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_CLIENT_H_
