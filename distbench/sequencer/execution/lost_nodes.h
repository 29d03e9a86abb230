// The nodes that a test has lost, in words.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_LOST_NODES_H_
#define DISTBENCH_SEQUENCER_EXECUTION_LOST_NODES_H_

#include <string>
#include <vector>

#include "distbench/sequencer/execution/participant.h"

namespace distbench::sequencer {

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

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_LOST_NODES_H_
