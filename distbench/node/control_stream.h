// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The node's end of its stream to the sequencer.

#ifndef DISTBENCH_NODE_CONTROL_STREAM_H_
#define DISTBENCH_NODE_CONTROL_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/security/credentials.h"
#include "proto/control.grpc.pb.h"
#include "proto/control.pb.h"

namespace distbench::node {

// What a node has yet to send to the sequencer.

// The first message is the one that is being sent; the others wait, in order.
// Progress replaces progress that waits. Not thread-safe.
class Outbox {
 public:
  bool empty() const { return messages_.empty(); }
  const NodeMessage& first() const { return messages_.front(); }

  void Add(NodeMessage message);
  void RemoveFirst() { messages_.pop_front(); }
  void Clear() { messages_.clear(); }

  // Adds progress of a test to the next pong; to none if other progress is
  // added first. Requires that no progress waits for a pong.
  void AddWithPong(int64_t test_id, TrafficProgress progress);
  bool awaits_pong() const { return for_pong_.has_value(); }

 private:
  struct ForPong {
    int64_t test_id;
    TrafficProgress progress;
  };

  std::deque<NodeMessage> messages_;
  std::optional<ForPong> for_pong_;
};

// A channel to the sequencer for one node's stream; `tls` may be null.
std::shared_ptr<grpc::Channel> MakeNodeChannel(
    const std::string& address, const security::TlsCredentials* tls);

// What speaks over the stream derives from this. Thread-safe. Must not be
// destroyed before OnEnd() is called, nor on a thread of gRPC: destroying the
// last channel of a process waits for all of those threads.
class ControlStream : public grpc::ClientBidiReactor<NodeMessage, NodeCommand> {
 public:
  // Never blocks. Progress replaces progress that has not been sent yet
  // (Outbox). Does nothing after the stream has ended.
  void Send(NodeMessage message) ABSL_LOCKS_EXCLUDED(mutex_);

  // Sends progress of a test as a part of the next pong; requires that none
  // awaits one already.
  void SendWithPong(int64_t test_id, TrafficProgress progress)
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool awaits_pong() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the stream end soon.
  void Cancel() { context_.TryCancel(); }

  // ClientBidiReactor:
  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone(const grpc::Status& status) final;

 protected:
  explicit ControlStream(std::shared_ptr<grpc::Channel> channel)
      : stub_(DistBenchTestSequencer::NewStub(std::move(channel))) {}

  // Connects, and sends the registration. Call it once, when everything is
  // ready for commands.
  void Open(NodeRegistration registration);

 private:
  // Called on threads of gRPC, one call at a time; must not block. OnEnd() is
  // called once, and last; nothing uses the stream after that.
  virtual void OnCommand(NodeCommand command) = 0;
  virtual void OnEnd(const absl::Status& status) = 0;

  const std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  grpc::ClientContext context_;
  NodeCommand command_;

  mutable absl::Mutex mutex_;
  Outbox outbox_ ABSL_GUARDED_BY(mutex_);
  bool is_broken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_CONTROL_STREAM_H_
