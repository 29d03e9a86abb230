// What the sequencer knows of a node, and says to it, while it is connected.

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

namespace distbench {

// The way to a node. Thread-safe; nothing here blocks.
class CommandStream {
 public:
  virtual ~CommandStream() = default;

  // Commands arrive in order. Does nothing once the stream is closed.
  virtual void Send(NodeCommand command) = 0;

  // Ends the stream; the node is told the status.
  virtual void Close(const absl::Status& status) = 0;
};

struct NodeSessionOptions {
  NodeConfig config;
  NodeRegistration registration;
  bool is_local = false;

  // A node that says nothing is lost within this time, and told so by the
  // welcome: it may expect as much of the sequencer.
  absl::Duration silence_timeout = absl::Seconds(5);
};

// Thread-safe.
class NodeSession final : public NodeHandle {
 public:
  // Beats that make up the silence_timeout. Counted rather than timed, so that
  // a sequencer that was stopped for a while does not blame its nodes.
  static constexpr int kBeatsPerTimeout = 10;

  // Beats without a sign of life after which the node is lost: one less, as
  // the last beat may come late and others have to hear of the loss in time.
  static constexpr int kSilentBeats = kBeatsPerTimeout - 1;

  // `clock` and `registry` must outlive the session. Welcomes the node.
  NodeSession(NodeSessionOptions options, std::shared_ptr<CommandStream> stream,
              const Clock& clock, NodeRegistry& registry);

  // The stream's side: the node has said something, or is gone.
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
  void Beat() override ABSL_LOCKS_EXCLUDED(mutex_);
  void Disconnect(absl::string_view reason) override;

 private:
  void OnPong(const Pong& pong) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendPing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const NodeSessionOptions options_;
  const std::shared_ptr<CommandStream> stream_;
  const Clock& clock_;
  NodeRegistry& registry_;

  mutable absl::Mutex mutex_;
  ClockOffsetEstimator clock_offset_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<NodeEvents> events_ ABSL_GUARDED_BY(mutex_);
  int silent_beats_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ping_is_out_ ABSL_GUARDED_BY(mutex_) = false;
  int pings_until_pause_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::string> end_reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_SESSION_H_
