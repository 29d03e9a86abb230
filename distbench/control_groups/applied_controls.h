// The controls of a test on this host: groups, their settings, and the way back.

#ifndef DISTBENCH_CONTROL_GROUPS_APPLIED_CONTROLS_H_
#define DISTBENCH_CONTROL_GROUPS_APPLIED_CONTROLS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "distbench/control_groups/group_files.h"
#include "distbench/control_groups/guardian.h"
#include "proto/experiment.pb.h"
#include "proto/results.pb.h"

namespace distbench {

struct ControlledInstance {
  std::string name;     // "server/0"
  std::string service;  // "server"
};

// Where controls are applied. Tests replace every part.
struct ControlHost {
  // /proc and /sys are read below it; an empty one stands for the real ones.
  std::string root = "";

  // Where journals and leases are. Empty: StateFolder()'s choice.
  std::string state_folder = "";

  std::shared_ptr<GroupFiles> files = std::make_shared<KernelGroupFiles>();
  GuardianStarter start_guardian = StartGuardianProcess;
};

// The groups of one test. In the delegated group there are, side by side, the
// node manager's own (kManagerGroup) and one for each of the set's groups that
// has instances here, and below that one for each instance. Instances that no
// group of the set names share another, without settings, so that none competes
// with the node manager or escapes the weights. Thread-safe.
class AppliedControls {
 public:
  // Creates the groups, makes the settings and reads them back. `set` is valid
  // and canonical. Whatever is changed can be undone from then on, also after
  // the death of this process: a guardian watches it.
  //
  // If a setting, or control groups as such, are impossible: an error that names
  // all such settings if the set is strict, after everything is undone;
  // otherwise the proofs say so, and instances may have no group. Values that a
  // dead process left are restored first. FAILED_PRECONDITION if another node
  // manager holds one of the controls, or the group that both share.
  static absl::StatusOr<std::unique_ptr<AppliedControls>> Apply(
      const ControlSet& set, absl::Span<const ControlledInstance> instances,
      const ControlHost& host = {});

  // Restores.
  ~AppliedControls();

  AppliedControls(const AppliedControls&) = delete;
  AppliedControls& operator=(const AppliedControls&) = delete;

  // Returns a descriptor of the folder of an instance's group, for
  // ChildProgram::group; -1 if it has none. Valid until Restore().
  int GroupOf(absl::string_view instance) const;

  // Returns what the groups have used since they were made, by the name of the
  // instance; under "" what the delegated group has used in all. Groups whose
  // statistics cannot be read are absent.
  std::map<std::string, GroupUse> ReadUse() const;

  // Reads all settings again: the proof of a setting that no longer says what
  // was wanted does not hold. Call it at the end of a test, before Restore().
  void Verify() ABSL_LOCKS_EXCLUDED(mutex_);

  // Kills what is left in the groups, removes them, restores what was changed,
  // and moves this process back. Engines must have ended. The second call does
  // nothing. An error says what could not be undone; the next Apply() or
  // RecoverAbandoned() tries again.
  absl::Status Restore() ABSL_LOCKS_EXCLUDED(mutex_);

  // One for each file that was to be set, in the order of the set. `after` is
  // filled in by Restore().
  std::vector<ControlProof> proofs() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct State;

  explicit AppliedControls(std::unique_ptr<State> state);

  mutable absl::Mutex mutex_;
  const std::unique_ptr<State> state_;
};

}  // namespace distbench

#endif  // DISTBENCH_CONTROL_GROUPS_APPLIED_CONTROLS_H_
