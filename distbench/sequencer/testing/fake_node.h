// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A node for tests, without a network.

#ifndef DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_
#define DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distbench/sequencer/nodes/clock_offset.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// The session of a node that obeys every command at once and successfully,
// unless the test sets another answer. For tests with one thread.
class FakeNode : public NodeSession {
 public:
  // Its hostname is "host-of-ALIAS", unless the registration has another.
  explicit FakeNode(std::string alias, NodeRegistration registration = {},
                    bool is_local = true);

  // Replaces the answer to commands of this kind; with {} the node stays
  // silent.
  using Answer = std::function<void(const NodeCommand& command)>;
  void SetAnswer(NodeCommand::CommandCase kind, Answer answer);

  // Does what the node would do without SetAnswer().
  void Obey(const NodeCommand& command);

  // Sends a message about the test of the last command.
  void Say(NodeMessage message);

  // Ends the session.
  void Die(const std::string& reason);

  // Answers a ping: from then on, this is the best that is known of its clock,
  // if the error, at least 1 ns, is smaller than those before.
  void ShowClock(ClockOffset offset);

  // The commands that the node received, in order, without welcome and pings.
  const std::vector<NodeCommand>& commands() const { return commands_; }
  std::vector<NodeCommand> CommandsOf(NodeCommand::CommandCase kind) const;

  // The reason for its disconnection; absent if it was not disconnected.
  const std::optional<std::string>& disconnect_reason() const {
    return disconnect_reason_;
  }

 private:
  // What the session needs before there is a node.
  struct Wire;

  FakeNode(NodeSessionOptions options, std::shared_ptr<Wire> wire);

  void Receive(const NodeCommand& command);
  void ObeyPrepare(const PrepareTest& prepare);
  void ObeyStart();
  void ObeyCollect();

  Wire& wire_;
  std::map<NodeCommand::CommandCase, Answer> answers_;
  std::vector<NodeCommand> commands_;
  int64_t test_id_ = 0;
  std::string first_instance_;
  bool is_dead_ = false;
  std::optional<std::string> disconnect_reason_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_
