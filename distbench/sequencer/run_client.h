// Who ordered a test sequence, and follows it.

#ifndef DISTBENCH_SEQUENCER_RUN_CLIENT_H_
#define DISTBENCH_SEQUENCER_RUN_CLIENT_H_

#include "absl/status/status.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// Calls come from one thread at a time, in this order: positions in the queue,
// then per test started, progress, chunks and finished, then done.
class RunClient {
 public:
  virtual ~RunClient() = default;

  // Must not block.
  virtual void OnQueuePosition(int ahead) = 0;
  virtual void OnTestStarted(int test_index, const TestStarted& started) = 0;
  virtual void OnProgress(int test_index, const TrafficProgress& progress) = 0;

  // A piece of the result. Blocks while the client has no room for it; an error
  // says that it takes no more.
  virtual absl::Status OnResultChunk(int test_index, ResultChunk chunk) = 0;

  // The test is over: its result without service_logs. An error ends the
  // sequence.
  virtual absl::Status OnTestFinished(int test_index, TestResult result) = 0;

  // The sequence is over. Must not block.
  virtual void OnSequenceDone(const absl::Status& status) = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUN_CLIENT_H_
