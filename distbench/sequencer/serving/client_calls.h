// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer's side of clients' calls that follow runs.

#ifndef DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_
#define DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/results/result_assembler.h"
#include "distbench/sequencer/runs/run_record.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// Called at most once, when the client has cancelled its call or is gone.
using CancelHandler = std::function<void()>;

// Streams the events of a run, as fast as the client reads them. A client that
// does not read is cut off when the record gives up its follower. Lives until
// gRPC has finished with it.
class FollowRunCall final : public grpc::ServerWriteReactor<RunTestsEvent>,
                            public std::enable_shared_from_this<FollowRunCall> {
 public:
  // gRPC owns `context`, which is valid until OnDone().
  static std::shared_ptr<FollowRunCall> Open(
      grpc::CallbackServerContext& context, CancelHandler cancel_handler);

  // Must be called once, when the run is known; the call may have ended by
  // then. An error ends the call.
  void Follow(absl::StatusOr<std::shared_ptr<RunRecord>> run)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // ServerWriteReactor:
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

 private:
  FollowRunCall(grpc::CallbackServerContext& context,
                CancelHandler cancel_handler)
      : context_(context), cancel_handler_(std::move(cancel_handler)) {}

  // Writes the next event if there is one, or ends the call if it is over.
  void Advance() ABSL_LOCKS_EXCLUDED(mutex_);
  void WriteNextOrFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  grpc::CallbackServerContext& context_;
  const CancelHandler cancel_handler_;
  std::shared_ptr<FollowRunCall> self_;  // until OnDone()

  absl::Mutex mutex_;
  RunTestsEvent written_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;

  // Null until Follow(), and when the call is finished.
  std::unique_ptr<RunFollower> follower_ ABSL_GUARDED_BY(mutex_);
};

// Gathers all results into one response, for existing clients. Takes them as
// soon as they are there, so that the client does not keep the record waiting.
class RunTestSequenceCall final : public grpc::ServerUnaryReactor {
 public:
  // gRPC owns `response`, which is valid until Finish(). If `run` is an error,
  // the call ends with it. The code of all errors is ABORTED.
  static RunTestSequenceCall* Open(
      TestSequenceResults& response,
      absl::StatusOr<std::shared_ptr<RunRecord>> run,
      CancelHandler cancel_handler);

  // ServerUnaryReactor:
  void OnCancel() override { cancel_handler_(); }
  void OnDone() override;

 private:
  RunTestSequenceCall(TestSequenceResults& response,
                      CancelHandler cancel_handler)
      : response_(response), cancel_handler_(std::move(cancel_handler)) {}

  void Follow(std::shared_ptr<RunRecord> run) ABSL_LOCKS_EXCLUDED(mutex_);
  void Advance() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Take(RunTestsEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  TestSequenceResults& response_;
  const CancelHandler cancel_handler_;
  std::shared_ptr<RunTestSequenceCall> self_;  // until OnDone()

  absl::Mutex mutex_;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<results::ResultAssembler> assembler_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<RunFollower> follower_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_CLIENT_CALLS_H_
