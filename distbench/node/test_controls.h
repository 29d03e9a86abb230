// The control groups in which a node's instances of a test run.

#ifndef DISTBENCH_NODE_TEST_CONTROLS_H_
#define DISTBENCH_NODE_TEST_CONTROLS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/products/protection/control_groups/applied_controls.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::node {

// The sequence of calls is Apply, Verify, Restore; any of them may be left out.
// Without controls in the test, all of them do nothing. Not thread-safe.
class TestControls {
 public:
  // Creates the groups and makes the settings. `test` is valid and canonical;
  // `instances` are those of it that this node hosts, in the order in which
  // their engines are made. Those that share a process are represented by the
  // first of them. can_have_groups:
  // whether engines have processes. If controls are impossible: an error, if
  // they are strict, and otherwise proofs that do not hold.
  absl::Status Apply(const DistributedSystemDescription& test,
                     const std::vector<std::string>& instances,
                     bool can_have_groups, const protection::ControlHost& host);

  // Whether there are groups, in which the processes of instances start.
  bool has_groups() const { return has_groups_; }

  // A descriptor of the folder of the group in which the instance's process is
  // to start; -1 if it has none.
  int GroupOf(absl::string_view instance) const;

  // As in AppliedControls; empty without groups.
  std::map<std::string, GroupUse> ReadUse() const;

  // Reads all settings again, when the traffic has ended.
  void Verify();

  // Undoes everything, when the processes of all engines have ended. The second
  // call does nothing. An error says what could not be undone; the next test
  // with controls tries again.
  absl::Status Restore();

  // Adds a proof for each setting.
  void AddProofs(NodeResources& resources) const;

 private:
  absl::Status RefuseWithoutProcesses(
      const ControlSet& controls, const std::vector<std::string>& instances);

  std::unique_ptr<protection::AppliedControls>
      applied_;  // null: not applied, or restored
  bool has_groups_ = false;
  std::vector<ControlProof> proofs_;  // while applied_ is null
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TEST_CONTROLS_H_
