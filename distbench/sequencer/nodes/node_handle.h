// A registered node, as tests see it.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

class NodeHandle;

// Receives a node's messages. Thread-safe; must not block.
class NodeEvents {
 public:
  virtual ~NodeEvents() = default;
  virtual void OnNodeMessage(NodeHandle& node, NodeMessage message) = 0;

  // The session has ended; nothing follows.
  virtual void OnNodeLost(NodeHandle& node, const std::string& reason) = 0;
};

// Outlives its session for as long as somebody holds it. Thread-safe; no method
// blocks.
class NodeHandle {
 public:
  virtual ~NodeHandle() = default;

  // Such as "node0".
  virtual const std::string& alias() const = 0;
  virtual const NodeRegistration& registration() const = 0;

  // Whether the node reached the sequencer over loopback, or runs in the same
  // process.
  virtual bool is_local() const = 0;

  // Whether the node has not answered recent pings. It may be gone, but has not
  // been declared lost yet.
  virtual bool is_silent() const = 0;

  // Absent until the node has answered for the first time.
  virtual std::optional<ClockOffset> clock_offset() const = 0;

  // Sends all later events to `events`, including the end of the session (at
  // once, if it has already ended). Null: to nobody.
  virtual void Attach(std::shared_ptr<NodeEvents> events) = 0;

  // Does nothing if the session has ended.
  virtual void Send(NodeCommand command) = 0;

  // Called at a steady pace: pings the node at every beats_per_ping-th call (1
  // or more), and disconnects it if it has been silent for too long.
  virtual void Beat(int beats_per_ping) = 0;

  // Ends the session: the node is lost for `reason`, and is told so.
  virtual void Disconnect(absl::string_view reason) = 0;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_
