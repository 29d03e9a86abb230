// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/control_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/memory.h"
#include "distbench/hosting/engine_messages.h"

namespace distbench::node {
namespace {

constexpr absl::Duration kSampleInterval = absl::Seconds(1);

// Checked while traffic runs: a process can use up a host's memory within a
// second.
constexpr absl::Duration kOverloadInterval = absl::Milliseconds(200);

}  // namespace

ControlSession::ControlSession(std::shared_ptr<grpc::Channel> channel,
                               NodeRegistration registration,
                               const NodeEnvironment& environment,
                               absl::Duration welcome_timeout,
                               WelcomeHandler on_welcome)
    : ControlStream(std::move(channel)),
      environment_(environment),
      on_welcome_(std::move(on_welcome)),
      silence_timeout_(welcome_timeout) {
  if (welcome_timeout < absl::InfiniteDuration()) {
    watch_.emplace(absl::InfiniteDuration(), [this] { OnSilence(); });
  }
  Open(std::move(registration));
  // Silence has no effect before there is a stream to end.
  absl::MutexLock lock(&mutex_);
  if (watch_.has_value()) watch_->SetTimeout(silence_timeout_);
}

template <typename Part>
void ControlSession::SendPart(int64_t test_id,
                              Part* (NodeMessage::*mutable_part)(), Part part) {
  NodeMessage message;
  message.set_test_id(test_id);
  *(message.*mutable_part)() = std::move(part);
  Send(std::move(message));
}

SessionEnd ControlSession::Run() {
  queue_.RunUntilClosed(
      [this] { return IsActive() ? kOverloadInterval : kSampleInterval; },
      [this] { Tick(); });
  absl::MutexLock lock(&mutex_);
  return end_;
}

void ControlSession::Leave(const std::string& reason) {
  TestPointer test;
  {
    absl::MutexLock lock(&mutex_);
    is_leaving_ = true;
    test = current_;
  }
  if (test == nullptr) return Cancel();
  test->hosted.Interrupt(absl::AbortedError(reason));
}

// ---- Reader -----------------------------------------------------------------

void ControlSession::OnCommand(NodeCommand command) {
  if (watch_.has_value()) watch_->Hear();
  switch (command.command_case()) {
    case NodeCommand::kPing: {
      NodeMessage reply;
      Pong& pong = *reply.mutable_pong();
      pong.set_node_timestamp_ns(environment_.clock.UnixNs());
      pong.set_sequencer_timestamp_ns(command.ping().sequencer_timestamp_ns());
      return Send(std::move(reply));
    }
    case NodeCommand::kWelcome:
      return OnWelcome(command.welcome());
    case NodeCommand::kShutdown: {
      {
        absl::MutexLock lock(&mutex_);
        end_.is_shutdown = true;
      }
      return Cancel();
    }
    case NodeCommand::kPrepare:
      return OnPrepare(command.test_id(),
                       std::move(*command.mutable_prepare()));
    default:
      return OnTestCommand(std::move(command));
  }
}

void ControlSession::OnWelcome(const NodeConfig& config) {
  {
    absl::MutexLock lock(&mutex_);
    end_.was_welcome = true;
    silence_timeout_ = config.has_silence_timeout_ns()
                           ? absl::Nanoseconds(config.silence_timeout_ns())
                           : absl::InfiniteDuration();
    if (watch_.has_value()) watch_->SetTimeout(silence_timeout_);
  }
  on_welcome_(config);
}

void ControlSession::OnPrepare(int64_t test_id, PrepareTest request) {
  auto test = std::make_shared<ActiveTest>(
      test_id, std::move(request), environment_,
      [this, test_id](const absl::Status& status,
                      const TrafficProgress& totals) {
        SendPart(test_id, &NodeMessage::mutable_progress, totals);
        SendPart(test_id, &NodeMessage::mutable_traffic_finished,
                 hosting::ToCommandStatus(status));
      });
  {
    absl::MutexLock lock(&mutex_);
    current_ = test;
  }
  queue_.Push([this, test] {
    executed_ = test;
    SendPart(test->id, &NodeMessage::mutable_prepare_reply,
             test->hosted.Prepare());
  });
}

void ControlSession::OnTestCommand(NodeCommand command) {
  TestPointer test;
  {
    absl::MutexLock lock(&mutex_);
    test = current_;
  }
  // Commands for other tests are for tests that are over.
  if (test == nullptr || test->id != command.test_id()) return;
  switch (command.command_case()) {
    case NodeCommand::kStop:
      return test->hosted.Stop(command.stop().reason());
    case NodeCommand::kResultsTaken:
      return test->window.Release(command.results_taken().bytes());
    case NodeCommand::kRelease:
      return OnRelease(test);
    case NodeCommand::kConnect:
      return queue_.Push([this, test, request = command.connect()] {
        SendPart(test->id, &NodeMessage::mutable_connect_reply,
                 test->hosted.Connect(request));
      });
    case NodeCommand::kStart:
      return queue_.Push(
          [this, test, request = command.start()] { Start(test, request); });
    case NodeCommand::kCollect:
      return queue_.Push([this, test, request = command.collect()] {
        Collect(test, request);
      });
    default:
      return;
  }
}

void ControlSession::OnRelease(const TestPointer& test) {
  test->Abort("the test was released");
  {
    absl::MutexLock lock(&mutex_);
    current_ = nullptr;
  }
  queue_.Push([this, test] { Release(test); });
  // A separate task, because the test lives until the previous task is over.
  queue_.Push([] { base::ReturnFreedMemory(); });
}

void ControlSession::OnEnd(const absl::Status& status) {
  TestPointer test;
  {
    absl::MutexLock lock(&mutex_);
    // An earlier status, with the reason for the cancellation, says more.
    if (end_.status.ok()) end_.status = status;
    test = std::move(current_);
  }
  if (test != nullptr) test->Abort("the session with the sequencer has ended");
  // Destroying the test may block, so the queue's thread does it.
  queue_.Push([test] {});
  test = nullptr;
  queue_.Close();
}

void ControlSession::OnSilence() {
  {
    absl::MutexLock lock(&mutex_);
    end_.status = absl::UnavailableError(absl::StrCat(
        "it has said nothing for ", absl::FormatDuration(silence_timeout_)));
  }
  Cancel();
}

// ---- Steps ------------------------------------------------------------------

void ControlSession::Start(const TestPointer& test,
                           const StartTraffic& request) {
  StartReply reply = test->hosted.Start(request);
  progress_times_.Start(absl::Nanoseconds(request.progress_interval_ns()),
                        absl::Uniform(random_, 0.0, 1.0),
                        environment_.clock.MonotonicNs());
  progress_with_pongs_ = request.progress_with_pongs();
  SendPart(test->id, &NodeMessage::mutable_start_reply, std::move(reply));
}

void ControlSession::Collect(const TestPointer& test,
                             const CollectResults& request) {
  test->window.Open(request.window_bytes());
  CollectReply reply = test->hosted.Collect([&](ResultChunk chunk) {
    if (!test->window.Acquire(chunk.ByteSizeLong())) return;
    SendPart(test->id, &NodeMessage::mutable_result_chunk, std::move(chunk));
  });
  SendPart(test->id, &NodeMessage::mutable_collect_reply, std::move(reply));
}

void ControlSession::Release(const TestPointer& test) {
  test->hosted.End();
  executed_ = nullptr;
  SendPart(test->id, &NodeMessage::mutable_release_reply, CommandStatus());
  bool is_leaving = false;
  {
    absl::MutexLock lock(&mutex_);
    is_leaving = is_leaving_;
  }
  if (is_leaving) Cancel();
}

bool ControlSession::IsActive() const {
  return executed_ != nullptr && executed_->hosted.is_active();
}

void ControlSession::Tick() {
  if (!IsActive()) return;
  executed_->hosted.StopIfOverdue();
  executed_->hosted.StopIfOverloaded();
  const int64_t now_ns = environment_.clock.MonotonicNs();
  if (now_ns < next_sample_ns_) return;
  // A little early is better than a tick late.
  const absl::Duration early = kOverloadInterval / 2;
  next_sample_ns_ = now_ns + absl::ToInt64Nanoseconds(kSampleInterval - early);
  executed_->hosted.SampleResources();
  // Waits for the pong first: what is taken covers the time since the last.
  if (awaits_pong()) return;
  if (progress_times_.IsDue(now_ns, early)) ReportProgress();
}

void ControlSession::ReportProgress() {
  if (progress_with_pongs_) {
    SendWithPong(executed_->id, executed_->hosted.TakeProgress());
    return;
  }
  SendPart(executed_->id, &NodeMessage::mutable_progress,
           executed_->hosted.TakeProgress());
}

}  // namespace distbench::node
