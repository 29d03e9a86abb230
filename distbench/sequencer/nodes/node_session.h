// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The sequencer's state of a connected node, and the commands sent to it.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

class NodeSession;

// Receives a node's messages. Thread-safe; must not block.
class NodeEvents {
 public:
  virtual ~NodeEvents() = default;

  // The error says why the message is not taken: the node is then disconnected.
  virtual absl::Status OnNodeMessage(NodeSession& node,
                                     NodeMessage message) = 0;

  // The session has ended; nothing follows.
  virtual void OnNodeLost(NodeSession& node, const std::string& reason) = 0;
};

// Sends commands to a node. Thread-safe; no method blocks.
class CommandStream {
 public:
  virtual ~CommandStream() = default;

  // Commands arrive in order. Does nothing once the stream is closed.
  virtual void Send(NodeCommand command) = 0;

  // Ends the stream, and tells the node the status.
  virtual void Close(const absl::Status& status) = 0;
};

struct NodeSessionOptions {
  NodeConfig config;
  NodeRegistration registration;

  // Whether the node is on the sequencer's host, and reached it over loopback
  // or in the same process.
  bool is_local = false;

  // A silent node is declared lost within this time. The welcome tells it the
  // time, so that it can expect as much of the sequencer.
  absl::Duration silence_timeout = absl::Seconds(5);
};

// A registered node, as tests see it. Stays usable after the session has ended,
// for as long as somebody holds it. Thread-safe; no method blocks.
class NodeSession {
 public:
  // Beats per silence_timeout. Beats are counted instead of timed, so that a
  // sequencer that was stopped for a while does not blame its nodes.
  static constexpr int kBeatsPerTimeout = 10;

  // A node is lost after this many beats without a sign of life: one beat
  // early, because the last one may be late, and others must hear of the loss
  // in time.
  static constexpr int kSilentBeats = kBeatsPerTimeout - 1;

  // How many beats there are for each ping among so many nodes. A round trip
  // costs the sequencer some 60 us, so there are fewer for each of thousands of
  // nodes; but always two within a node's timeout.
  static int BeatsPerPing(size_t node_count);

  // A new node is pinged this many times in a row, so that its clock is known
  // before its first test. Among thousands, which often come all at once, the
  // beats have to do.
  static int FirstPings(int node_id);

  // Welcomes the node. `clock` and `registry` must outlive the session.
  NodeSession(NodeSessionOptions options, std::shared_ptr<CommandStream> stream,
              const base::Clock& clock, NodeRegistry& registry);

  // Called by the stream: the node has sent a message, or is gone.
  void OnMessage(NodeMessage message) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd(const std::string& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // Such as "node0".
  const std::string& alias() const { return options_.config.node_alias(); }
  const NodeRegistration& registration() const { return options_.registration; }
  bool is_local() const { return options_.is_local; }

  // Whether the node has not answered recent pings. It may be gone, but has not
  // been declared lost yet.
  bool is_silent() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Absent until the node has answered for the first time.
  std::optional<ClockOffset> clock_offset() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Sends all later events to `events`, including the end of the session (at
  // once, if it has already ended). Null: to nobody.
  void Attach(std::shared_ptr<NodeEvents> events) ABSL_LOCKS_EXCLUDED(mutex_);

  // Does nothing if the session has ended.
  void Send(NodeCommand command) { stream_->Send(std::move(command)); }

  // Called at a steady pace: pings the node at every beats_per_ping-th call (1
  // or more), and disconnects it if it has been silent for too long.
  void Beat(int beats_per_ping) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the session: the node is lost for `reason`, and is told so.
  void Disconnect(absl::string_view reason);

 private:
  void OnPong(const Pong& pong) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendPing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const NodeSessionOptions options_;
  const std::shared_ptr<CommandStream> stream_;
  const base::Clock& clock_;
  NodeRegistry& registry_;

  mutable absl::Mutex mutex_;
  ClockOffsetEstimator clock_offset_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<NodeEvents> events_ ABSL_GUARDED_BY(mutex_);
  int silent_beats_ ABSL_GUARDED_BY(mutex_) = 0;
  int beats_per_ping_ ABSL_GUARDED_BY(mutex_) = 1;
  int beats_ ABSL_GUARDED_BY(mutex_);  // from the id, so that nodes take turns
  // Of the ping that was not answered yet.
  std::optional<int64_t> ping_sent_ns_ ABSL_GUARDED_BY(mutex_);
  int pings_until_pause_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::string> end_reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_
