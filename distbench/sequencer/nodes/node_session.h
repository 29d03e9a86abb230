// The sequencer's state of a connected node, and the commands sent to it.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

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
  bool is_local = false;

  // A silent node is declared lost within this time. The welcome tells it the
  // time, so that it can expect as much of the sequencer.
  absl::Duration silence_timeout = absl::Seconds(5);
};

// Thread-safe.
class NodeSession final : public NodeHandle {
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

  const std::string& alias() const override {
    return options_.config.node_alias();
  }
  const NodeRegistration& registration() const override {
    return options_.registration;
  }
  bool is_local() const override { return options_.is_local; }
  bool is_silent() const override ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<ClockOffset> clock_offset() const override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Attach(std::shared_ptr<NodeEvents> events) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Send(NodeCommand command) override;
  void Beat(int beats_per_ping) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Disconnect(absl::string_view reason) override;

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
  bool ping_is_out_ ABSL_GUARDED_BY(mutex_) = false;
  int pings_until_pause_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::string> end_reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_
