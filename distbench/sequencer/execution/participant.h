// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The nodes of a test, and the steps that each of them is executing.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/index_list.h"
#include "distbench/sequencer/nodes/node_session.h"
#include "distbench/sequencer/placement/placement.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// A node's part of a test.
struct NodeShare {
  std::shared_ptr<NodeSession> node;
  std::vector<std::string> instances = {};  // at least one
  int workers_per_instance = 1;
};

// The steps of a node. kTraffic overlaps with other steps.
enum class Step { kPrepare, kConnect, kStart, kTraffic, kCollect, kRelease };

// "node1 could not DEED: ...".
absl::string_view DeedOf(Step step);

// "node1 was lost WHEN: ...".
absl::string_view WhenIs(Step step);

inline constexpr int kStepCount = static_cast<int>(Step::kRelease) + 1;

struct Participant {
  explicit Participant(NodeShare share) : share(std::move(share)) {}

  // The node's alias and host.
  std::string Name() const;

  NodeShare share;
  bool is_told = false;  // of the test
  bool lost = false;

  // Instances that the node's instances send RPCs to.
  std::vector<std::string> peers;

  TrafficProgress progress;

  // How long after the planned start its command arrived; absent if it has not
  // started.
  std::optional<int64_t> start_lateness_ns;

  // Bytes of its result chunks that were taken but not acknowledged yet.
  int64_t unacknowledged_bytes = 0;

  // Begun, and not finished yet; see Participants.
  std::array<bool, kStepCount> pending = {};
};

// Nodes, in a message.
class NodeNames {
 public:
  void Add(const Participant& participant);

  int count() const { return count_; }

  // Up to ten nodes by their names and hosts. More as ranges of the numbers in
  // their names, and the first with its host: "5000 nodes
  // (node0-2499,5000-7499; the first is node0 (host a))". At most some 2000
  // bytes of ranges.
  std::string Text() const;

 private:
  int count_ = 0;
  std::vector<std::string> first_names_;
  base::IndexSet ids_;
};

// The nodes of a test, in the order of their shares, and what they are doing.
// Every message of a node needs most of these functions, so those take the same
// time whether there are ten nodes or ten thousand.
class Participants {
 public:
  explicit Participants(const std::vector<NodeShare>& shares);

  size_t size() const { return all_.size(); }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  // Null if the node does not take part.
  Participant* Find(const NodeSession* node);

  // Each participant must be one of these.
  void Begin(Participant& participant, Step step);
  bool Awaits(const Participant& participant, Step step) const {
    return participant.pending[static_cast<int>(step)];
  }

  // Returns whether the node was executing the step.
  bool End(Participant& participant, Step step);
  void EndAll(Participant& participant);

  // How many nodes have not finished the step.
  int CountAwaiting(Step step) const {
    return awaited_[static_cast<int>(step)];
  }

  // The names of those nodes; goes through all nodes.
  std::string WhoAwaits(Step step) const;

 private:
  std::vector<Participant> all_;
  absl::flat_hash_map<const NodeSession*, size_t> positions_;
  std::array<int, kStepCount> awaited_ = {};
};

// Says that these nodes did not finish the step within the timeout.
std::string LateMessage(Step step, absl::Duration timeout,
                        const Participants& participants);

// Whether all nodes are on the sequencer's host (see NodeSessionOptions).
bool AllAreLocal(const Participants& participants);

// The nodes that a test has lost, in words.

// Nodes often go together, because they share a power supply or a switch. A
// message for each of thousands would hide what else a result says, so there is
// one for all nodes that were lost in the same step for the same reason.
class LostNodes {
 public:
  void Add(const Participant& participant, Step step,
           const std::string& reason);

  bool empty() const { return groups_.empty(); }

  // In the order of the groups' first losses.
  std::vector<std::string> Messages() const;

 private:
  struct Group {
    Step step;
    std::string reason;
    NodeNames names = {};
  };

  std::vector<Group> groups_;
};

// Derives each node's part of a test from a placement.

// Returns a node in the form that PlaceInstances() expects. In addition to the
// attributes with which a node was started it has "node_alias", and, unless it
// was started with another value, "hostname", "cpu_count", "numa_node_count"
// and, if all its CPUs are of one NUMA node, "numa_node".
PlacementNode PlacementNodeOf(const std::string& alias,
                              const NodeRegistration& registration);
std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeSession>>& nodes);

// Returns the nodes that take part in the test. All instances on a host, which
// may run several node managers, share its cores: each gets cores / instances
// workers, at least one. Node managers that are bound to different CPUs share
// nothing. `placement` must be a placement on `nodes`.
std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeSession>>& nodes,
    const Placement& placement);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_
