// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/testing/fake_node.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/nodes/node_registry.h"

namespace distbench::sequencer {
namespace {

NodeSessionOptions OptionsOf(std::string alias, NodeRegistration registration,
                             bool is_local) {
  if (registration.hostname().empty()) {
    registration.set_hostname(absl::StrCat("host-of-", alias));
  }
  NodeSessionOptions options = {.registration = std::move(registration),
                                .is_local = is_local};
  options.config.set_node_alias(std::move(alias));
  return options;
}

}  // namespace

struct FakeNode::Wire final : public CommandStream {
  void Send(NodeCommand command) override {
    if (node != nullptr) node->Receive(command);
  }
  void Close(const absl::Status& status) override {
    node->is_dead_ = true;
    node->disconnect_reason_ = std::string(status.message());
  }

  FakeNode* node = nullptr;
  base::FakeClock clock;
  NodeRegistry registry;  // without the node
};

FakeNode::FakeNode(std::string alias, NodeRegistration registration,
                   bool is_local)
    : FakeNode(OptionsOf(std::move(alias), std::move(registration), is_local),
               std::make_shared<Wire>()) {}

FakeNode::FakeNode(NodeSessionOptions options, std::shared_ptr<Wire> wire)
    : NodeSession(std::move(options), wire, wire->clock, wire->registry),
      wire_(*wire) {
  wire_.node = this;
}

void FakeNode::SetAnswer(NodeCommand::CommandCase kind, Answer answer) {
  answers_[kind] = std::move(answer);
}

void FakeNode::Receive(const NodeCommand& command) {
  if (is_dead_ || command.has_ping()) return;
  if (command.has_test_id()) test_id_ = command.test_id();
  commands_.push_back(command);
  const auto it = answers_.find(command.command_case());
  if (it == answers_.end()) {
    Obey(command);
  } else if (it->second) {
    it->second(command);
  }
}

void FakeNode::Say(NodeMessage message) {
  message.set_test_id(test_id_);
  OnMessage(std::move(message));
}

void FakeNode::Die(const std::string& reason) {
  is_dead_ = true;
  OnEnd(reason);
}

void FakeNode::ShowClock(ClockOffset offset) {
  const int64_t half_ns = offset.error_ns - 1;
  NodeMessage message;
  Pong& pong = *message.mutable_pong();
  pong.set_sequencer_timestamp_ns(wire_.clock.UnixNs());
  pong.set_node_timestamp_ns(wire_.clock.UnixNs() + half_ns + offset.offset_ns);
  wire_.clock.Advance(2 * half_ns);
  OnMessage(std::move(message));
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
    endpoint.set_hostname(registration().hostname());
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
