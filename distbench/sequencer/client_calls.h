// Clients' calls that run tests, seen by the sequencer.

#ifndef DISTBENCH_SEQUENCER_CLIENT_CALLS_H_
#define DISTBENCH_SEQUENCER_CLIENT_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/run_client.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// Streams events to the client. Progress is coalesced for one that reads
// slowly, and pieces of results wait, until the client is so slow that it
// counts as gone. Lives until gRPC is done with it, and for as long as somebody
// holds it.
class RunTestsCall final : public grpc::ServerWriteReactor<RunTestsEvent>,
                           public RunClient {
 public:
  // Called at most once, when the client has cancelled or is gone.
  using CancelHandler = std::function<void()>;

  static std::shared_ptr<RunTestsCall> Open(
      const grpc::CallbackServerContext& context);

  // Before gRPC is given the call.
  void SetCancelHandler(CancelHandler handler) {
    cancel_handler_ = std::move(handler);
  }

  void OnQueuePosition(int ahead) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestStarted(int test_index, const TestStarted& started) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnProgress(int test_index, const TrafficProgress& progress) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status OnResultChunk(int test_index, ResultChunk chunk) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status OnTestFinished(int test_index, TestResult result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnSequenceDone(const absl::Status& status) override
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Of the reactor.
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

 private:
  explicit RunTestsCall(const grpc::CallbackServerContext& context)
      : context_(context) {}

  // Progress replaces progress that the client has not been sent yet.
  void Enqueue(RunTestsEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteNextOrFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasRoomOrIsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Not used once Finish() was called.
  const grpc::CallbackServerContext& context_;
  CancelHandler cancel_handler_;
  std::shared_ptr<RunTestsCall> self_;  // until OnDone()

  absl::Mutex mutex_;
  std::deque<RunTestsEvent> events_ ABSL_GUARDED_BY(mutex_);
  int64_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of events_
  RunTestsEvent written_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> final_status_ ABSL_GUARDED_BY(mutex_);
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

// Gathers all results into one response.
class RunTestSequenceCall final : public grpc::ServerUnaryReactor,
                                  public RunClient {
 public:
  using CancelHandler = std::function<void()>;

  // `response` is gRPC's, and valid until Finish().
  static std::shared_ptr<RunTestSequenceCall> Open(
      TestSequenceResults& response);

  // Before gRPC is given the call.
  void SetCancelHandler(CancelHandler handler) {
    cancel_handler_ = std::move(handler);
  }

  void OnQueuePosition(int) override {}
  void OnTestStarted(int, const TestStarted&) override {}
  void OnProgress(int, const TrafficProgress&) override {}
  absl::Status OnResultChunk(int test_index, ResultChunk chunk) override;
  absl::Status OnTestFinished(int test_index, TestResult result) override;
  void OnSequenceDone(const absl::Status& status) override;

  // Of the reactor.
  void OnCancel() override;
  void OnDone() override;

 private:
  explicit RunTestSequenceCall(TestSequenceResults& response)
      : response_(response) {}

  TestResult& Result(int test_index);

  TestSequenceResults& response_;
  CancelHandler cancel_handler_;
  std::shared_ptr<RunTestSequenceCall> self_;  // until OnDone()
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_CLIENT_CALLS_H_
