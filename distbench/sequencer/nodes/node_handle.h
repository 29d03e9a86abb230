// A registered node, as tests see it.

#ifndef DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_
#define DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/sequencer/nodes/clock_offset.h"
#include "proto/control.pb.h"

namespace distbench {

class NodeHandle;

// Where messages of nodes go. Thread-safe; must not block.
class NodeEvents {
 public:
  virtual ~NodeEvents() = default;
  virtual void OnNodeMessage(NodeHandle& node, NodeMessage message) = 0;

  // The session has ended; nothing follows.
  virtual void OnNodeLost(NodeHandle& node, const std::string& reason) = 0;
};

// Outlives its session for as long as somebody holds it. Thread-safe; nothing
// here blocks.
class NodeHandle {
 public:
  virtual ~NodeHandle() = default;

  // Such as "node0".
  virtual const std::string& alias() const = 0;
  virtual const NodeRegistration& registration() const = 0;

  // Whether the node reached the sequencer over loopback, or is part of its
  // process.
  virtual bool is_local() const = 0;

  // Whether it has lately been asked for a sign of life and given none: it may
  // be gone, though it has not been given up yet.
  virtual bool is_silent() const = 0;

  // Absent before the node has answered the first time.
  virtual std::optional<ClockOffset> clock_offset() const = 0;

  // Sends messages that follow to `events`, those about the session's end
  // included (at once, if it has ended already). Null: to nobody.
  virtual void Attach(std::shared_ptr<NodeEvents> events) = 0;

  // Does nothing if the session has ended.
  virtual void Send(NodeCommand command) = 0;

  // Called at a steady pace: asks the node for a sign of life, and disconnects
  // it if there have been none for a while.
  virtual void Beat() = 0;

  // Ends the session: the node is lost for `reason`, and is told so.
  virtual void Disconnect(absl::string_view reason) = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODES_NODE_HANDLE_H_
