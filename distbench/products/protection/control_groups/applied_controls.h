// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The controls of a test on this host: groups, their settings, and the way
// back.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_APPLIED_CONTROLS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_APPLIED_CONTROLS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/products/protection/control_groups/control_plan.h"
#include "distbench/products/protection/control_groups/control_writer.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/guardian.h"
#include "distbench/products/protection/control_groups/hierarchy.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "proto/experiment.pb.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// Why AppliedControls::Apply() would not make a setting on a host of which only
// the facts are known, as far as these say: FAILED_PRECONDITION in the words of
// Apply(), if it could not use control groups at all or lacks a controller of
// groups; or if it could set io.cost nowhere. Whether it has a device of that
// name, and what others have set, only the host itself can tell.
absl::Status CheckControls(const ControlSet& set,
                           absl::Span<const ControlledInstance> instances,
                           const HostFacts& facts);

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
  // A setting may be impossible, or control groups as such: because the host
  // lacks them, because the group is not delegated, or because another node
  // manager holds one of the controls. If the set is strict, the result is then
  // FAILED_PRECONDITION with a line for each reason, and nothing is changed;
  // otherwise, the proofs say so, and instances may have no group. What dead
  // processes left is undone first.
  static absl::StatusOr<std::unique_ptr<AppliedControls>> Apply(
      const ControlSet& set, absl::Span<const ControlledInstance> instances,
      const ControlHost& host = {});

  // Restores.
  ~AppliedControls();

  AppliedControls(const AppliedControls&) = delete;
  AppliedControls& operator=(const AppliedControls&) = delete;

  // Returns a descriptor of the folder of an instance's group, for
  // ChildProgram::group; -1 if it has none. Valid as long as this object.
  int GroupOf(absl::string_view instance) const;

  // Returns what the groups have used since they were made, by the name of the
  // instance; under "" what the delegated group has used in all. Groups whose
  // statistics cannot be read are absent.
  std::map<std::string, GroupUse> ReadUse() const;

  // Reads all settings again: the proof of a setting that no longer says what
  // was wanted does not hold. Settings of everything else have no effect on
  // groups that others have made meanwhile, which get proofs that say so. Call
  // it at the end of a test, before Restore().
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
  explicit AppliedControls(const ControlHost& host) : host_(host) {}

  // The parts of Apply(). What they return makes all controls impossible; what
  // makes one setting impossible is in its proof.
  absl::Status Make(const ControlPlan& plan) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Begin(const GroupHierarchy& hierarchy, const ControlPlan& plan,
                     const std::vector<std::string>& neighbours)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(ControlWriter& writer, const ControlPlan& plan,
                     const std::vector<std::string>& neighbours);
  absl::Status OpenFolders();

  // Adds proofs for groups of everything else that were not there before.
  void AddNewNeighbours() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Undoes everything, and makes proofs that nothing holds.
  void Abandon(const ControlPlan& plan, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckAllHold() const ABSL_LOCKS_EXCLUDED(mutex_);

  const ControlHost host_;

  // Set by Apply(), before others use this.
  GroupHierarchy hierarchy_;
  std::string delegated_folder_;                             // empty: no groups
  std::map<std::string, std::string> folders_;               // by instance
  std::map<std::string, base::FileDescriptor> descriptors_;  // of these

  mutable absl::Mutex mutex_;
  std::unique_ptr<Journal> journal_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Guardian> guardian_ ABSL_GUARDED_BY(mutex_);
  std::vector<WrittenControl> written_ ABSL_GUARDED_BY(mutex_);

  // What everything else is set to, and the paths of which that is known.
  std::vector<FileSetting> everything_else_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> neighbours_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_APPLIED_CONTROLS_H_
