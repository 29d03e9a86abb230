#include "distbench/sequencer/testing/fake_node.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

FakeNode::FakeNode(std::string alias) : alias_(std::move(alias)) {
  registration_.set_hostname(absl::StrCat("host-of-", alias_));
}

void FakeNode::SetAnswer(NodeCommand::CommandCase kind, Answer answer) {
  answers_[kind] = std::move(answer);
}

void FakeNode::Attach(std::shared_ptr<NodeEvents> events) {
  events_ = std::move(events);
  if (events_ != nullptr && death_) events_->OnNodeLost(*this, *death_);
}

void FakeNode::Send(NodeCommand command) {
  if (death_) return;
  if (command.has_test_id()) test_id_ = command.test_id();
  commands_.push_back(command);
  const auto it = answers_.find(command.command_case());
  if (it == answers_.end()) {
    Obey(command);
  } else if (it->second) {
    it->second(command);
  }
}

void FakeNode::Disconnect(absl::string_view reason) {
  disconnect_reason_ = std::string(reason);
  Die(*disconnect_reason_);
}

void FakeNode::Say(NodeMessage message) {
  message.set_test_id(test_id_);
  if (events_ != nullptr) events_->OnNodeMessage(*this, std::move(message));
}

void FakeNode::Die(const std::string& reason) {
  if (death_) return;
  death_ = reason;
  if (events_ != nullptr) events_->OnNodeLost(*this, reason);
}

std::vector<NodeCommand> FakeNode::CommandsOf(
    NodeCommand::CommandCase kind) const {
  std::vector<NodeCommand> found;
  for (const NodeCommand& command : commands_) {
    if (command.command_case() == kind) found.push_back(command);
  }
  return found;
}

void FakeNode::Obey(const NodeCommand& command) {
  NodeMessage reply;
  switch (command.command_case()) {
    case NodeCommand::kPrepare:
      return ObeyPrepare(command.prepare());
    case NodeCommand::kConnect:
      reply.mutable_connect_reply();
      return Say(std::move(reply));
    case NodeCommand::kStart:
      return ObeyStart();
    case NodeCommand::kStop:
      reply.mutable_traffic_finished();
      return Say(std::move(reply));
    case NodeCommand::kCollect:
      return ObeyCollect();
    case NodeCommand::kRelease:
      reply.mutable_release_reply();
      return Say(std::move(reply));
    default:
      return;
  }
}

void FakeNode::ObeyPrepare(const PrepareTest& prepare) {
  NodeMessage reply;
  PrepareReply& prepared = *reply.mutable_prepare_reply();
  prepared.mutable_status();
  for (const std::string& instance : prepare.config().services()) {
    if (first_instance_.empty()) first_instance_ = instance;
    ServiceEndpoint& endpoint =
        (*prepared.mutable_endpoints()->mutable_service_endpoints())[instance];
    endpoint.set_hostname(registration_.hostname());
    endpoint.set_endpoint_address(absl::StrCat("address-of-", instance));
    // All instances call the first instance of the first service.
    prepared.add_peers(absl::StrCat(
        prepare.config().traffic_config().services(0).name(), "/0"));
  }
  Say(std::move(reply));
}

void FakeNode::ObeyStart() {
  NodeMessage reply;
  reply.mutable_start_reply();
  Say(std::move(reply));
  NodeMessage progress;
  progress.mutable_progress()->set_succeeded_count(10);
  Say(std::move(progress));
  NodeMessage finished;
  finished.mutable_traffic_finished();
  Say(std::move(finished));
}

void FakeNode::ObeyCollect() {
  NodeMessage piece;
  ResultChunk& chunk = *piece.mutable_result_chunk();
  chunk.set_instance(first_instance_);
  chunk.mutable_instance_log();
  Say(std::move(piece));
  NodeMessage reply;
  reply.mutable_collect_reply()->mutable_node_usage();
  Say(std::move(reply));
}

}  // namespace distbench::sequencer
