// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/node_stream.h"

#include <utility>

#include "distbench/base/grpc_calls.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"

namespace distbench::sequencer {
namespace {

// The only reason that the end of a connection has: gRPC reports it twice, in
// any order, and losses of many nodes are told apart by their reasons.
constexpr char kClosed[] = "the connection was closed";

// A node may also come from another host through a proxy on this one.
bool IsLocal(const NodeRegistration& node, const std::string& peer) {
  return base::IsLocalPeer(peer) &&
         base::IsThisHost(node.hostname(), node.boot_id());
}

}  // namespace

NodeStream* NodeStream::Open(const grpc::CallbackServerContext& context,
                             const Environment& environment) {
  std::shared_ptr<NodeStream> stream(new NodeStream(context, environment));
  stream->self_ = stream;
  environment.unregistered.Add(stream);
  stream->StartRead(&stream->message_);
  return stream.get();
}

NodeStream::NodeStream(const grpc::CallbackServerContext& context,
                       const Environment& environment)
    : context_(context), environment_(environment) {}

void NodeStream::Send(NodeCommand command) {
  absl::MutexLock lock(&mutex_);
  if (close_status_.has_value()) return;
  outbox_.push_back(std::move(command));
  if (outbox_.size() == 1) StartWrite(&outbox_.front());
}

void NodeStream::Close(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (close_status_.has_value()) return;
  close_status_ = base::ToGrpcStatus(status);
  if (outbox_.empty()) {
    Finish(*close_status_);
  } else {
    // The write may take forever; OnWriteDone() finishes.
    context_.TryCancel();
  }
}

void NodeStream::OnReadDone(bool ok) {
  if (!ok) return End(kClosed);
  std::shared_ptr<NodeSession> session;
  {
    absl::MutexLock lock(&mutex_);
    session = session_;
  }
  if (session != nullptr) {
    session->OnMessage(std::move(message_));
  } else if (message_.has_registration()) {
    Register(message_.registration());
  } else {
    Close(absl::InvalidArgumentError(
        "the first message of a session must be a registration"));
  }
  {
    absl::MutexLock lock(&mutex_);
    if (close_status_.has_value()) return;
  }
  message_.Clear();
  StartRead(&message_);
}

void NodeStream::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  outbox_.pop_front();
  if (close_status_.has_value()) {
    Finish(*close_status_);
  } else if (!ok) {
    // OnReadDone() or OnCancel() informs the session.
    outbox_.clear();
  } else if (!outbox_.empty()) {
    StartWrite(&outbox_.front());
  }
}

void NodeStream::OnCancel() { End(kClosed); }

void NodeStream::OnDone() {
  environment_.unregistered.Remove(*this);
  {
    // The session refers to the stream and may outlive it.
    absl::MutexLock lock(&mutex_);
    session_ = nullptr;
  }
  const std::shared_ptr<NodeStream> last_reference = std::move(self_);
}

void NodeStream::Register(const NodeRegistration& registration) {
  // Otherwise it is too late: the stream is being closed.
  if (!environment_.unregistered.Remove(*this)) return;
  std::shared_ptr<NodeSession> session;
  const absl::Status status = environment_.registry.Register(
      registration, [&](const NodeConfig& config) {
        session = std::make_shared<NodeSession>(
            NodeSessionOptions{
                .config = config,
                .registration = registration,
                .is_local = IsLocal(registration, context_.peer()),
                .silence_timeout = environment_.silence_timeout},
            self_, environment_.clock, environment_.registry);
        return session;
      });
  if (!status.ok()) return Close(status);
  bool is_closed = false;
  {
    absl::MutexLock lock(&mutex_);
    session_ = session;
    is_closed = close_status_.has_value();
  }
  // The code that closed the stream did not know the session.
  if (is_closed) session->OnEnd(kClosed);
}

void NodeStream::End(const std::string& reason) {
  std::shared_ptr<NodeSession> session;
  {
    absl::MutexLock lock(&mutex_);
    session = session_;
  }
  if (session != nullptr) session->OnEnd(reason);
  Close(absl::CancelledError(reason));
}

}  // namespace distbench::sequencer
