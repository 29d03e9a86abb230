#include "distbench/node/control_stream.h"

#include <utility>

#include "distbench/base/grpc_calls.h"

namespace distbench {

std::unique_ptr<ControlStream> ControlStream::Open(
    std::shared_ptr<grpc::Channel> channel, NodeRegistration registration,
    Handlers handlers) {
  std::unique_ptr<ControlStream> stream(
      new ControlStream(std::move(channel), std::move(handlers)));
  stream->stub_->async()->NodeSession(&stream->context_, stream.get());
  // All threads may write: without the hold, gRPC could end the call between
  // two writes.
  stream->AddHold();
  NodeMessage message;
  *message.mutable_registration() = std::move(registration);
  stream->Send(std::move(message));
  stream->StartRead(&stream->command_);
  stream->StartCall();
  return stream;
}

ControlStream::ControlStream(std::shared_ptr<grpc::Channel> channel,
                             Handlers handlers)
    : stub_(DistBenchTestSequencer::NewStub(std::move(channel))),
      handlers_(std::move(handlers)) {}

void ControlStream::Send(NodeMessage message) {
  absl::MutexLock lock(&mutex_);
  if (is_broken_) return;
  if (outbox_.size() > 1 && message.has_progress() &&
      outbox_.back().has_progress()) {
    outbox_.back() = std::move(message);
    return;
  }
  outbox_.push_back(std::move(message));
  if (outbox_.size() == 1) StartWrite(&outbox_.front());
}

void ControlStream::OnReadDone(bool ok) {
  if (ok) {
    handlers_.on_command(*this, std::move(command_));
    command_.Clear();
    StartRead(&command_);
    return;
  }
  // The sequencer sends nothing more.
  {
    absl::MutexLock lock(&mutex_);
    is_broken_ = true;
  }
  RemoveHold();
}

void ControlStream::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  outbox_.pop_front();
  if (!ok || is_broken_) {
    is_broken_ = true;
    outbox_.clear();
  } else if (!outbox_.empty()) {
    StartWrite(&outbox_.front());
  }
}

void ControlStream::OnDone(const grpc::Status& status) {
  // The stream may be destroyed before this returns.
  const auto on_end = std::move(handlers_.on_end);
  on_end(ToAbslStatus(status));
}

}  // namespace distbench
