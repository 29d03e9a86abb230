// Clients' calls that follow runs, seen by the sequencer.

#ifndef DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_
#define DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/sequencer/runs/run_record.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// What to do when the client has cancelled its call or is gone: at most once.
using CancelHandler = std::function<void()>;

// Streams what a run has to say, as fast as the client reads it. Lives until
// gRPC is done with it.
class FollowRunCall final : public grpc::ServerWriteReactor<RunTestsEvent>,
                            public std::enable_shared_from_this<FollowRunCall> {
 public:
  static std::shared_ptr<FollowRunCall> Open(
      grpc::CallbackServerContext& context, CancelHandler cancel_handler);

  // Must be called once, when it is known what to follow; the call may be over
  // by then. With an error, the call ends with it.
  void Follow(absl::StatusOr<std::shared_ptr<RunRecord>> run)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Of the reactor.
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

 private:
  FollowRunCall(grpc::CallbackServerContext& context,
                CancelHandler cancel_handler)
      : context_(context), cancel_handler_(std::move(cancel_handler)) {}

  // Writes the next event, or ends the call, if there is one or it has to.
  void Advance() ABSL_LOCKS_EXCLUDED(mutex_);
  void WriteNextOrFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Not used once Finish() was called.
  grpc::CallbackServerContext& context_;
  const CancelHandler cancel_handler_;
  std::shared_ptr<FollowRunCall> self_;  // until OnDone()

  absl::Mutex mutex_;
  RunTestsEvent written_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;

  // Null: not known yet.
  std::unique_ptr<RunFollower> follower_ ABSL_GUARDED_BY(mutex_);
};

// Gathers all results into one response.
class RunTestSequenceCall final : public grpc::ServerUnaryReactor {
 public:
  // `response` is gRPC's, and valid until Finish(). An error is what the call
  // ends with.
  static RunTestSequenceCall* Open(
      TestSequenceResults& response,
      absl::StatusOr<std::shared_ptr<RunRecord>> run,
      CancelHandler cancel_handler);

  // Of the reactor.
  void OnCancel() override { cancel_handler_(); }
  void OnDone() override;

 private:
  RunTestSequenceCall(TestSequenceResults& response,
                      CancelHandler cancel_handler)
      : response_(response), cancel_handler_(std::move(cancel_handler)) {}

  void Follow(std::shared_ptr<RunRecord> run) ABSL_LOCKS_EXCLUDED(mutex_);
  void Advance() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Take(RunTestsEvent event);
  TestResult& Result(int test_index);

  TestSequenceResults& response_;
  const CancelHandler cancel_handler_;
  std::shared_ptr<RunTestSequenceCall> self_;  // until OnDone()

  absl::Mutex mutex_;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<RunFollower> follower_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_
