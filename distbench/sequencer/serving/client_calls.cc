// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/client_calls.h"

#include <utility>

#include "distbench/base/grpc_calls.h"
#include "distbench/results/legacy_results.h"

namespace distbench::sequencer {

// ---- FollowRunCall ----------------------------------------------------------

std::shared_ptr<FollowRunCall> FollowRunCall::Open(
    grpc::CallbackServerContext& context, CancelHandler cancel_handler) {
  std::shared_ptr<FollowRunCall> call(
      new FollowRunCall(context, std::move(cancel_handler)));
  call->self_ = call;
  return call;
}

void FollowRunCall::Follow(absl::StatusOr<std::shared_ptr<RunRecord>> run) {
  absl::MutexLock lock(&mutex_);
  if (is_finished_) return;
  if (!run.ok()) return End(run.status());
  follower_ =
      std::make_unique<RunFollower>(*std::move(run), [call = weak_from_this()] {
        if (const auto held = call.lock()) held->Advance();
      });
  WriteNextOrFinish();
}

void FollowRunCall::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  is_writing_ = false;
  if (!ok) is_cancelled_ = true;
  WriteNextOrFinish();
}

void FollowRunCall::OnCancel() {
  {
    absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
    WriteNextOrFinish();
  }
  cancel_handler_();
}

void FollowRunCall::OnDone() {
  const std::shared_ptr<FollowRunCall> last_reference = std::move(self_);
}

void FollowRunCall::Advance() {
  absl::MutexLock lock(&mutex_);
  // The write may take forever; OnWriteDone() ends the call.
  if (is_writing_ && follower_->is_given_up()) context_.TryCancel();
  WriteNextOrFinish();
}

void FollowRunCall::WriteNextOrFinish() {
  if (is_finished_ || is_writing_) return;
  if (is_cancelled_) return End(absl::CancelledError("the client has gone"));
  if (follower_ == nullptr) return;
  RunNews news = follower_->Next();
  if (news.event.has_value()) {
    written_ = *std::move(news.event);
    is_writing_ = true;
    StartWrite(&written_);
  } else if (news.end.has_value()) {
    End(*news.end);
  }
}

void FollowRunCall::End(const absl::Status& status) {
  if (is_finished_) return;
  is_finished_ = true;
  // A client that does not read what was written must not keep the record.
  follower_ = nullptr;
  Finish(base::ToGrpcStatus(status));
}

// ---- RunTestSequenceCall ----------------------------------------------------

namespace {

// Clients of that call know no other refusal.
grpc::Status AsAborted(const absl::Status& status) {
  return base::ToGrpcStatus(status.ok() ? status
                                        : absl::AbortedError(status.message()));
}

}  // namespace

RunTestSequenceCall* RunTestSequenceCall::Open(
    TestSequenceResults& response,
    absl::StatusOr<std::shared_ptr<RunRecord>> run,
    CancelHandler cancel_handler) {
  std::shared_ptr<RunTestSequenceCall> call(
      new RunTestSequenceCall(response, std::move(cancel_handler)));
  call->self_ = call;
  if (run.ok()) {
    call->Follow(*std::move(run));
  } else {
    call->Finish(AsAborted(run.status()));
  }
  return call.get();
}

void RunTestSequenceCall::Follow(std::shared_ptr<RunRecord> run) {
  {
    absl::MutexLock lock(&mutex_);
    assembler_.emplace(run->description().test_names_size(), response_);
    follower_ = std::make_unique<RunFollower>(
        std::move(run), [call = std::weak_ptr<RunTestSequenceCall>(self_)] {
          if (const auto held = call.lock()) held->Advance();
        });
  }
  Advance();
}

void RunTestSequenceCall::Advance() {
  absl::MutexLock lock(&mutex_);
  while (!is_finished_) {
    RunNews news = follower_->Next();
    if (!news.event.has_value() && !news.end.has_value()) return;
    if (news.event.has_value()) {
      const absl::Status status = Take(*std::move(news.event));
      if (status.ok()) continue;
      news.end = status;
    }
    is_finished_ = true;
    // A client that does not read the response must not keep the record.
    follower_ = nullptr;
    Finish(AsAborted(*news.end));
  }
}

absl::Status RunTestSequenceCall::Take(RunTestsEvent event) {
  // A run without tests has other events.
  if (!event.has_result_chunk() && !event.has_finished()) return {};
  absl::Status status = assembler_->Add(event);
  if (status.ok() && event.has_finished()) {
    results::FitToOlderTools(
        *response_.mutable_test_results(event.test_index())
             ->mutable_service_logs());
  }
  return status;
}

void RunTestSequenceCall::OnDone() {
  const std::shared_ptr<RunTestSequenceCall> last_reference = std::move(self_);
}

}  // namespace distbench::sequencer
