// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer's end of a node's stream.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_STREAM_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "distbench/sequencer/nodes/unregistered_streams.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// Registers the node with its first message, then carries commands and messages
// between the node and its session. A stream without a registration is ended
// after a while. Owns itself: it lives until gRPC has finished with it and the
// session has ended.
class NodeStream final
    : public grpc::ServerBidiReactor<NodeMessage, NodeCommand>,
      public CommandStream {
 public:
  // All referenced objects must outlive the server.
  struct Environment {
    absl::Duration silence_timeout;
    const base::Clock& clock;
    NodeRegistry& registry;
    UnregisteredStreams& unregistered;
  };

  // Returns the reactor of a new call, for gRPC.
  static NodeStream* Open(const grpc::CallbackServerContext& context,
                          const Environment& environment);

  void Send(NodeCommand command) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Close(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override;
  void OnDone() override;

 private:
  NodeStream(const grpc::CallbackServerContext& context,
             const Environment& environment);

  void Register(const NodeRegistration& registration);
  void End(const std::string& reason);

  // Not used once the stream is closed.
  const grpc::CallbackServerContext& context_;
  const Environment environment_;

  std::shared_ptr<NodeStream> self_;  // until OnDone()

  // Used by reads, which come one after the other, and by their handlers.
  NodeMessage message_;

  absl::Mutex mutex_;
  std::shared_ptr<NodeSession> session_ ABSL_GUARDED_BY(mutex_);
  std::deque<NodeCommand> outbox_ ABSL_GUARDED_BY(mutex_);  // front: written
  std::optional<grpc::Status> close_status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_STREAM_H_
