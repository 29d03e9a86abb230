// A node for tests, without a network.

#ifndef DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_
#define DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// Obeys every command at once and successfully, unless the test sets another
// answer. For tests with one thread.
class FakeNode : public NodeHandle {
 public:
  explicit FakeNode(std::string alias);

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

  // The commands that the node received, in order.
  const std::vector<NodeCommand>& commands() const { return commands_; }
  std::vector<NodeCommand> CommandsOf(NodeCommand::CommandCase kind) const;

  // The reason for its disconnection; absent if it was not disconnected.
  const std::optional<std::string>& disconnect_reason() const {
    return disconnect_reason_;
  }

  // Properties that tests change.
  NodeRegistration& mutable_registration() { return registration_; }
  void set_is_local(bool is_local) { is_local_ = is_local; }
  void set_is_silent(bool is_silent) { is_silent_ = is_silent; }
  void set_clock_offset(ClockOffset offset) { clock_offset_ = offset; }

  const std::string& alias() const override { return alias_; }
  const NodeRegistration& registration() const override {
    return registration_;
  }
  bool is_local() const override { return is_local_; }
  bool is_silent() const override { return is_silent_; }
  std::optional<ClockOffset> clock_offset() const override {
    return clock_offset_;
  }
  void Attach(std::shared_ptr<NodeEvents> events) override;
  void Send(NodeCommand command) override;
  void Beat(int) override {}
  void Disconnect(absl::string_view reason) override;

 private:
  void ObeyPrepare(const PrepareTest& prepare);
  void ObeyStart();
  void ObeyCollect();

  const std::string alias_;
  NodeRegistration registration_;
  bool is_local_ = true;
  bool is_silent_ = false;
  std::optional<ClockOffset> clock_offset_;
  std::shared_ptr<NodeEvents> events_;
  std::map<NodeCommand::CommandCase, Answer> answers_;
  std::vector<NodeCommand> commands_;
  int64_t test_id_ = 0;
  std::string first_instance_;
  std::optional<std::string> death_;
  std::optional<std::string> disconnect_reason_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_FAKE_NODE_H_
