// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/control_stream.h"

#include <utility>

#include "distbench/base/grpc_calls.h"

namespace distbench::node {

void Outbox::Add(NodeMessage message) {
  if (message.has_progress()) {
    for_pong_.reset();
    if (messages_.size() > 1 && messages_.back().has_progress()) {
      messages_.back() = std::move(message);
      return;
    }
  } else if (message.has_pong() && for_pong_.has_value()) {
    message.set_test_id(for_pong_->test_id);
    *message.mutable_pong()->mutable_progress() =
        std::move(for_pong_->progress);
    for_pong_.reset();
  }
  messages_.push_back(std::move(message));
}

void Outbox::AddWithPong(int64_t test_id, TrafficProgress progress) {
  for_pong_ = {test_id, std::move(progress)};
}

std::shared_ptr<grpc::Channel> MakeNodeChannel(
    const std::string& address, const security::TlsCredentials* tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // In spite of its name, this limits how long an attempt to connect may take.
  // It is short because the link may be back, while the kernel's
  // retransmissions become ever rarer.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 3000);
  // Makes every attempt start afresh: the node decides when to try.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // gRPC would ping the sequencer for each heartbeat, which are thousands from
  // thousands of nodes; the node receives little.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return security::MakeSequencerChannel(address, tls, std::move(arguments));
}

void ControlStream::Open(NodeRegistration registration) {
  stub_->async()->NodeSession(&context_, this);
  // All threads may write: without the hold, gRPC could end the call between
  // two writes.
  AddHold();
  NodeMessage message;
  *message.mutable_registration() = std::move(registration);
  Send(std::move(message));
  StartRead(&command_);
  StartCall();
}

void ControlStream::Send(NodeMessage message) {
  absl::MutexLock lock(&mutex_);
  if (is_broken_) return;
  const bool is_first = outbox_.empty();
  outbox_.Add(std::move(message));
  if (is_first) StartWrite(&outbox_.first());
}

void ControlStream::SendWithPong(int64_t test_id, TrafficProgress progress) {
  absl::MutexLock lock(&mutex_);
  outbox_.AddWithPong(test_id, std::move(progress));
}

bool ControlStream::awaits_pong() const {
  absl::MutexLock lock(&mutex_);
  return outbox_.awaits_pong();
}

void ControlStream::OnReadDone(bool ok) {
  if (ok) {
    OnCommand(std::move(command_));
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
  outbox_.RemoveFirst();
  if (!ok || is_broken_) {
    is_broken_ = true;
    outbox_.Clear();
  } else if (!outbox_.empty()) {
    StartWrite(&outbox_.first());
  }
}

void ControlStream::OnDone(const grpc::Status& status) {
  // The stream may be destroyed before this returns.
  OnEnd(base::ToAbslStatus(status));
}

}  // namespace distbench::node
