// The nodes of a test, and the steps that each of them is executing.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "proto/control.pb.h"

namespace distbench {

// A node's part of a test.
struct NodeShare {
  std::shared_ptr<NodeHandle> node;
  std::vector<std::string> instances;  // at least one
  int workers_per_instance = 1;
};

// The steps of a node. kTraffic overlaps with other steps.
enum class Step { kPrepare, kConnect, kStart, kTraffic, kCollect, kRelease };

// "node1 could not DEED: ...".
absl::string_view DeedOf(Step step);

// "node1 was lost WHEN: ...".
absl::string_view WhenIs(Step step);

struct Participant {
  explicit Participant(NodeShare share) : share(std::move(share)) {}

  // The node's alias and host.
  std::string Name() const;

  bool Awaits(Step step) const { return pending.count(step) > 0; }

  NodeShare share;
  bool lost = false;
  std::set<Step> pending;  // begun, and not finished yet

  // Instances that the node's instances send RPCs to.
  std::vector<std::string> peers;

  TrafficProgress progress;

  // Bytes of its result chunks that were taken but not acknowledged yet.
  int64_t unacknowledged_bytes = 0;
};

// The first ten names, and the number of the others.
std::string JoinNames(const std::vector<std::string>& names);

// The names of the nodes that have not finished the step.
std::string WhoAwaits(Step step, const std::vector<Participant>& participants);

// Says that these nodes did not finish the step within the timeout.
std::string LateMessage(Step step, absl::Duration timeout,
                        const std::vector<Participant>& participants);

int CountAwaiting(Step step, const std::vector<Participant>& participants);

// Whether all nodes are on the sequencer's host (see NodeHandle).
bool AllAreLocal(const std::vector<Participant>& participants);

// Null if the node does not take part.
Participant* FindParticipant(const NodeHandle* node,
                             std::vector<Participant>& participants);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PARTICIPANT_H_
