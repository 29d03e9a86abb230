// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/node_registry.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/protocol_versions.h"
#include "distbench/base/version.h"
#include "distbench/sequencer/nodes/node_session.h"

namespace distbench::sequencer {

// The description of a host with hundreds of CPUs takes a tenth of this.
static constexpr size_t kMaxRegistrationBytes = 256 * 1024;

std::string NodeAlias(int id) { return absl::StrCat("node", id); }

absl::Status NodeRegistry::Register(const NodeRegistration& registration,
                                    MakeSession make) {
  if (absl::Status status = Check(registration); !status.ok()) return status;
  std::shared_ptr<NodeSession> replaced;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) {
      return absl::UnavailableError("the sequencer is shutting down");
    }
    const absl::StatusOr<int> id = ChooseId(registration);
    if (!id.ok()) return id.status();
    const bool is_full = static_cast<int>(entries_.size()) >= limit_.count;
    if (is_full && !entries_.contains(*id)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the sequencer takes no more than ", limit_.count,
          limit_.count == 1 ? " node; " : " nodes; ", limit_.remedy));
    }
    NodeConfig config;
    config.set_node_id(*id);
    config.set_node_alias(NodeAlias(*id));
    Entry& entry = entries_[*id];
    replaced = std::move(entry.node);
    entry = {make(config), registration.incarnation(), registration.hostname()};
    free_ids_.Take(*id);
    if (entry.incarnation != 0) ids_[entry.incarnation] = *id;
    if (on_registered_ != nullptr) on_registered_();
  }
  if (replaced != nullptr) {
    replaced->Disconnect("the node has started a new session");
  }
  return absl::OkStatus();
}

void NodeRegistry::SetListener(std::function<void()> on_registered) {
  absl::MutexLock lock(&mutex_);
  on_registered_ = std::move(on_registered);
}

void NodeRegistry::Remove(int id, const NodeSession& node) {
  absl::MutexLock lock(&mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end() || it->second.node.get() != &node) return;
  const auto named = ids_.find(it->second.incarnation);
  if (named != ids_.end() && named->second == id) ids_.erase(named);
  entries_.erase(it);
  free_ids_.Release(id);
  last_loss_ns_ = clock_.MonotonicNs();
}

std::optional<int64_t> NodeRegistry::last_loss_ns() const {
  absl::MutexLock lock(&mutex_);
  return last_loss_ns_;
}

std::vector<std::shared_ptr<NodeSession>> NodeRegistry::Nodes() const {
  std::vector<std::shared_ptr<NodeSession>> nodes;
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, entry] : entries_) nodes.push_back(entry.node);
  return nodes;
}

void NodeRegistry::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void NodeRegistry::ShutDownNodes() {
  Close();
  {
    absl::MutexLock lock(&mutex_);
    told_to_end_ = true;
  }
  for (const auto& node : Nodes()) {
    NodeCommand command;
    command.mutable_shutdown();
    node->Send(std::move(command));
  }
}

bool NodeRegistry::AwaitEmpty(absl::Duration patience) {
  const auto is_empty =
      +[](std::map<int, Entry>* entries) { return entries->empty(); };
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(is_empty, &entries_),
                                 patience);
}

bool NodeRegistry::AwaitEmptyIfTold(absl::Duration patience) {
  {
    absl::MutexLock lock(&mutex_);
    if (!told_to_end_) return entries_.empty();
  }
  return AwaitEmpty(patience);
}

absl::Status NodeRegistry::Check(const NodeRegistration& registration) const {
  if (!base::WorkTogether(base::kControlProtocol,
                          registration.control_protocol())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the node runs distbench ",
        registration.version().empty() ? "of an unknown version"
                                       : registration.version(),
        ", whose protocol (version ", registration.control_protocol(),
        ") this sequencer's (distbench ", base::ProgramVersion(), ", version ",
        base::kControlProtocol,
        ") does not work with, which takes the one before and the one after; "
        "install a version closer to the sequencer's on the node's host"));
  }
  if (registration.hostname().empty()) {
    return absl::InvalidArgumentError(
        "the registration has no hostname; a node must name its host");
  }
  if (registration.control_port() < 0 || registration.control_port() > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("the node's port is ",
                                                   registration.control_port(),
                                                   "; ports are 0 to 65535"));
  }
  if (registration.ByteSizeLong() > kMaxRegistrationBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the registration has ", registration.ByteSizeLong(),
                     " bytes; it may have ", kMaxRegistrationBytes,
                     ": give the node fewer or shorter attributes"));
  }
  const int id = registration.preassigned_node_id();
  if (id < -1 || id >= kMaxNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("node", id, " is not a node name; names are node0 to node",
                     kMaxNodes - 1));
  }
  return absl::OkStatus();
}

bool NodeRegistry::IsSame(const Entry& entry,
                          const NodeRegistration& registration) {
  return entry.incarnation != 0 &&
         entry.incarnation == registration.incarnation();
}

absl::StatusOr<int> NodeRegistry::ChooseId(
    const NodeRegistration& registration) const {
  const int wanted = registration.preassigned_node_id();
  if (wanted >= 0) {
    const auto it = entries_.find(wanted);
    if (it == entries_.end() || IsSame(it->second, registration)) return wanted;
    if (it->second.node->is_silent()) {
      return absl::UnavailableError(absl::StrCat(
          NodeAlias(wanted), " is registered already, by host ",
          it->second.hostname,
          ", which does not answer; the name is free when that node is "
          "declared lost"));
    }
    return absl::AlreadyExistsError(
        absl::StrCat(NodeAlias(wanted), " is registered already, by host ",
                     it->second.hostname,
                     "; start this node under another name or under none"));
  }
  // The node may have come back without having heard its name.
  const auto returned = ids_.find(registration.incarnation());
  if (returned != ids_.end()) return returned->second;
  const int id = free_ids_.Smallest();
  if (id >= kMaxNodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("all ", kMaxNodes, " node names are in use"));
  }
  return id;
}

}  // namespace distbench::sequencer
