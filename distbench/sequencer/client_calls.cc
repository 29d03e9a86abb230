#include "distbench/sequencer/client_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/results/merge.h"
#include "distbench/sequencer/grpc_status.h"

namespace distbench {
namespace {

// Of results that wait for the client.
constexpr int64_t kMaxQueuedBytes = 8 << 20;

// A client that takes nothing for this long is gone.
constexpr absl::Duration kStallTimeout = absl::Seconds(60);

// Whether the later event makes the earlier one obsolete.
bool Replaces(const RunTestsEvent& later, const RunTestsEvent& earlier) {
  return later.event_case() == earlier.event_case() &&
         later.test_index() == earlier.test_index() &&
         (later.has_progress() || later.has_queue_position());
}

}  // namespace

// ---- RunTestsCall -----------------------------------------------------------

std::shared_ptr<RunTestsCall> RunTestsCall::Open(
    const grpc::CallbackServerContext& context) {
  std::shared_ptr<RunTestsCall> call(new RunTestsCall(context));
  call->self_ = call;
  return call;
}

void RunTestsCall::OnQueuePosition(int ahead) {
  RunTestsEvent event;
  event.set_queue_position(ahead);
  absl::MutexLock lock(&mutex_);
  Enqueue(std::move(event));
}

void RunTestsCall::OnTestStarted(int test_index, const TestStarted& started) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_started() = started;
  absl::MutexLock lock(&mutex_);
  Enqueue(std::move(event));
}

void RunTestsCall::OnProgress(int test_index, const TrafficProgress& progress) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_progress() = progress;
  absl::MutexLock lock(&mutex_);
  Enqueue(std::move(event));
}

absl::Status RunTestsCall::OnResultChunk(int test_index, ResultChunk chunk) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_result_chunk() = std::move(chunk);
  absl::MutexLock lock(&mutex_);
  if (!mutex_.AwaitWithTimeout(
          absl::Condition(this, &RunTestsCall::HasRoomOrIsOver),
          kStallTimeout)) {
    context_.TryCancel();
    return absl::DeadlineExceededError(
        absl::StrCat("the client took none of the results for ",
                     absl::FormatDuration(kStallTimeout)));
  }
  if (is_cancelled_) return absl::CancelledError("the client has gone");
  Enqueue(std::move(event));
  return absl::OkStatus();
}

absl::Status RunTestsCall::OnTestFinished(int test_index, TestResult result) {
  RunTestsEvent event;
  event.set_test_index(test_index);
  *event.mutable_finished() = std::move(result);
  absl::MutexLock lock(&mutex_);
  Enqueue(std::move(event));
  return absl::OkStatus();
}

void RunTestsCall::OnSequenceDone(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  final_status_ = ToGrpcStatus(status);
  WriteNextOrFinish();
}

void RunTestsCall::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  is_writing_ = false;
  if (!ok) is_cancelled_ = true;
  WriteNextOrFinish();
}

void RunTestsCall::OnCancel() {
  {
    absl::MutexLock lock(&mutex_);
    is_cancelled_ = true;
    WriteNextOrFinish();
  }
  cancel_handler_();
}

void RunTestsCall::OnDone() {
  const std::shared_ptr<RunTestsCall> last_reference = std::move(self_);
}

void RunTestsCall::Enqueue(RunTestsEvent event) {
  if (!events_.empty() && Replaces(event, events_.back())) {
    events_.back() = std::move(event);
    return;
  }
  queued_bytes_ += event.ByteSizeLong();
  events_.push_back(std::move(event));
  WriteNextOrFinish();
}

void RunTestsCall::WriteNextOrFinish() {
  if (is_writing_ || is_finished_) return;
  if (is_cancelled_) {
    events_.clear();
    queued_bytes_ = 0;
  }
  if (!events_.empty()) {
    written_ = std::move(events_.front());
    events_.pop_front();
    queued_bytes_ -= written_.ByteSizeLong();
    is_writing_ = true;
    StartWrite(&written_);
  } else if (final_status_.has_value()) {
    is_finished_ = true;
    Finish(*final_status_);
  }
}

bool RunTestsCall::HasRoomOrIsOver() const {
  return queued_bytes_ < kMaxQueuedBytes || is_cancelled_;
}

// ---- RunTestSequenceCall ----------------------------------------------------

std::shared_ptr<RunTestSequenceCall> RunTestSequenceCall::Open(
    TestSequenceResults& response) {
  std::shared_ptr<RunTestSequenceCall> call(new RunTestSequenceCall(response));
  call->self_ = call;
  return call;
}

absl::Status RunTestSequenceCall::OnResultChunk(int test_index,
                                                ResultChunk chunk) {
  return MergeChunk(std::move(chunk),
                    *Result(test_index).mutable_service_logs());
}

absl::Status RunTestSequenceCall::OnTestFinished(int test_index,
                                                 TestResult result) {
  const std::string failure = result.run_info().failure();
  Result(test_index).MergeFrom(result);
  if (failure.empty()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("tests[", test_index, "] failed: ", failure));
}

void RunTestSequenceCall::OnSequenceDone(const absl::Status& status) {
  Finish(ToGrpcStatus(status));
}

void RunTestSequenceCall::OnCancel() { cancel_handler_(); }

void RunTestSequenceCall::OnDone() {
  const std::shared_ptr<RunTestSequenceCall> last_reference = std::move(self_);
}

TestResult& RunTestSequenceCall::Result(int test_index) {
  while (response_.test_results_size() <= test_index) {
    response_.add_test_results();
  }
  return *response_.mutable_test_results(test_index);
}

}  // namespace distbench
