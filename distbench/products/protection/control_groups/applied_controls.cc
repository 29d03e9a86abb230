// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/applied_controls.h"

#include <fcntl.h>
#include <glog/logging.h>

#include <cerrno>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "distbench/products/protection/control_groups/hierarchy.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/settings.h"
#include "distbench/products/protection/control_groups/undo.h"

namespace distbench::protection {
namespace {

// A guardian restores within a second.
constexpr absl::Duration kLeasePatience = absl::Seconds(2);

std::vector<JournalRecord> LeasesFor(
    const GroupHierarchy& hierarchy, const ControlPlan& plan,
    const std::vector<std::string>& neighbours) {
  std::vector<JournalRecord> leases;
  if (!plan.groups.empty()) {
    leases.push_back(GroupLease(hierarchy.DelegatedFolder()));
  }
  for (const std::string& path : neighbours) {
    leases.push_back(GroupLease(hierarchy.Folder(path)));
  }
  std::set<std::string> devices;
  for (const FileSetting& setting : plan.devices) {
    if (setting.problem.ok()) {
      devices.insert(setting.value.substr(0, setting.value.find(' ')));
    }
  }
  for (const std::string& device : devices) {
    leases.push_back(DeviceLease(hierarchy.mount, device));
  }
  return leases;
}

// Proofs that nothing was set, for one reason.
void AddUnheld(const std::vector<FileSetting>& settings,
               const std::string& label, absl::string_view problem,
               std::vector<WrittenControl>& written) {
  for (const FileSetting& setting : settings) {
    WrittenControl control = {.folder = "", .setting = setting, .proof = {}};
    control.proof.set_group(label);
    control.proof.set_file(setting.file);
    control.proof.set_wanted(setting.value);
    control.proof.set_held(false);
    control.proof.set_problem(std::string(problem));
    written.push_back(std::move(control));
  }
}

std::vector<WrittenControl> UnheldControls(const ControlPlan& plan,
                                           absl::string_view problem) {
  std::vector<WrittenControl> written;
  for (const PlannedGroup& group : plan.groups) {
    AddUnheld(group.settings, InstancesOf(group), problem, written);
  }
  AddUnheld(plan.everything_else, "everything else", problem, written);
  AddUnheld(plan.devices, "/", problem, written);
  return written;
}

bool IsOf(const UndoneValue& value, const WrittenControl& control) {
  return value.folder == control.folder && value.file == control.setting.file &&
         value.value == control.setting.value;
}

// How the file of a control was left. The groups of the test are gone.
std::string AfterUndo(const UndoReport& report, const WrittenControl& control) {
  for (const UndoneValue& value : report.values) {
    if (IsOf(value, control)) return value.after;
  }
  return Exists(control.folder) ? "" : "removed";
}

}  // namespace

// ---- Whether they can be made -----------------------------------------------

namespace {

// Shares are of the host of the facts. Devices are looked for where there are
// none, because this host's would say nothing.
HostAmounts AmountsOf(const HostFacts& facts) {
  HostAmounts amounts = {.root = "/dev/null"};
  amounts.memory_bytes = facts.memory_bytes();
  amounts.cpu_count = facts.cpu_count();
  return amounts;
}

constexpr char kNoIoCost[] =
    "the node manager can set io.cost of no block device; that takes root's "
    "rights in the host's own hierarchy, a kernel with io.cost, and a disk "
    "that "
    "has request queues";

// What could not be set without the controllers that the group lacks, or
// without a device that has io.cost. Groups beside the delegated one may have
// other controllers.
std::vector<WrittenControl> ControlsWithout(const ControlGroupFacts& facts,
                                            const ControlPlan& plan) {
  const std::set<std::string> controllers(facts.controllers().begin(),
                                          facts.controllers().end());
  std::vector<WrittenControl> written;
  for (const PlannedGroup& group : plan.groups) {
    for (const FileSetting& setting : group.settings) {
      const std::string controller = setting.controller();
      if (controllers.contains(controller)) continue;
      AddUnheld({setting}, InstancesOf(group),
                NotPassedOn(controller, facts.delegated_path(), controllers)
                    .message(),
                written);
    }
  }
  if (facts.io_cost_devices().empty()) {
    AddUnheld(plan.devices, "/", kNoIoCost, written);
  }
  return written;
}

// `strict` decides what becomes of the test.
absl::Status CheckHeld(absl::Span<const WrittenControl> written, bool strict) {
  // Many settings may be impossible for one reason.
  std::map<std::string, std::vector<std::string>> settings_by_problem;
  for (const WrittenControl& control : written) {
    const ControlProof& proof = control.proof;
    if (proof.held()) continue;
    settings_by_problem[proof.problem()].push_back(absl::StrCat(
        proof.file(), " = \"", proof.wanted(), "\" for ", proof.group()));
  }
  if (settings_by_problem.empty()) return absl::OkStatus();
  std::string message =
      absl::StrCat("controls cannot be set (",
                   strict ? "with strict: false, the test runs without them)"
                          : "the test runs without them, as it is not strict)");
  for (const auto& [problem, settings] : settings_by_problem) {
    absl::StrAppend(&message, "\n", absl::StrJoin(settings, ", "), ": ",
                    problem);
  }
  return absl::FailedPreconditionError(message);
}

}  // namespace

absl::Status CheckControls(const ControlSet& set,
                           absl::Span<const ControlledInstance> instances,
                           const HostFacts& facts) {
  if (!facts.has_control_groups()) return absl::OkStatus();
  const ControlGroupFacts& groups = facts.control_groups();
  const ControlPlan plan = PlanControls(set, instances, AmountsOf(facts));
  return CheckHeld(groups.has_problem() ? UnheldControls(plan, groups.problem())
                                        : ControlsWithout(groups, plan),
                   set.strict());
}

// ---- Making -----------------------------------------------------------------

absl::StatusOr<std::unique_ptr<AppliedControls>> AppliedControls::Apply(
    const ControlSet& set, absl::Span<const ControlledInstance> instances,
    const ControlHost& host) {
  const ControlPlan plan =
      PlanControls(set, instances, ReadHostAmounts(host.root));
  std::unique_ptr<AppliedControls> applied(new AppliedControls(host));
  absl::Status status = applied->Make(plan);
  if (!status.ok()) applied->Abandon(plan, status);
  if (!set.strict()) return applied;
  status = applied->CheckAllHold();
  if (!status.ok()) return status;  // the destructor undoes what was done
  return applied;
}

absl::Status AppliedControls::Make(const ControlPlan& plan) {
  const auto hierarchy = FindHierarchy(host_.root, *host_.files);
  if (!hierarchy.ok()) return hierarchy.status();
  std::vector<std::string> neighbours;
  if (!plan.everything_else.empty()) {
    auto paths = NeighbourPaths(*hierarchy, *host_.files);
    if (!paths.ok()) return paths.status();
    neighbours = *std::move(paths);
  }
  absl::MutexLock lock(&mutex_);
  absl::Status status = Begin(*hierarchy, plan, neighbours);
  if (!status.ok()) return status;
  ControlWriter writer(host_.root, *hierarchy, *host_.files, *journal_);
  status = Write(writer, plan, neighbours);
  if (!status.ok()) return status;
  hierarchy_ = *hierarchy;
  delegated_folder_ = hierarchy->DelegatedFolder();
  folders_ = writer.TakeFolders();
  written_ = writer.TakeWritten();
  status = OpenFolders();
  if (!status.ok()) return status;
  everything_else_ = plan.everything_else;
  neighbours_ = {neighbours.begin(), neighbours.end()};
  return absl::OkStatus();
}

// Everything before the first change.
absl::Status AppliedControls::Begin(
    const GroupHierarchy& hierarchy, const ControlPlan& plan,
    const std::vector<std::string>& neighbours) {
  const std::string folder =
      host_.state_folder.empty() ? StateFolder() : host_.state_folder;
  absl::Status status = MakeStateFolder(folder);
  if (!status.ok()) return status;
  const auto folder_lock = LockStateFolder(folder, kLockPatience);
  if (!folder_lock.ok()) return folder_lock.status();
  for (const std::string& sentence :
       RecoverLocked(host_.root, folder, *host_.files)) {
    LOG(WARNING) << sentence;
  }
  const auto leases = LeasesFor(hierarchy, plan, neighbours);
  status = CheckLeases(folder, leases, kLeasePatience);
  if (!status.ok()) return status;
  auto journal = Journal::Create(folder, ThisHolder(host_.root));
  if (!journal.ok()) return journal.status();
  journal_ = *std::move(journal);
  for (const JournalRecord& lease : leases) {
    status = journal_->Append(lease);
    if (!status.ok()) return status;
  }
  auto guardian = host_.start_guardian(journal_->path());
  if (!guardian.ok()) return guardian.status();
  guardian_ = *std::move(guardian);
  return absl::OkStatus();
}

absl::Status AppliedControls::Write(
    ControlWriter& writer, const ControlPlan& plan,
    const std::vector<std::string>& neighbours) {
  absl::Status status = writer.OpenDelegatedGroup(plan.groups);
  for (const PlannedGroup& group : plan.groups) {
    if (status.ok()) status = writer.MakeGroup(group);
  }
  if (status.ok()) {
    status = writer.SetNeighbours(plan.everything_else, neighbours);
  }
  if (status.ok()) status = writer.SetDevices(plan.devices);
  return status;
}

absl::Status AppliedControls::OpenFolders() {
  for (const auto& [instance, folder] : folders_) {
    base::FileDescriptor opened(
        open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open()) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot open the control group ", folder));
    }
    descriptors_[instance] = std::move(opened);
  }
  return absl::OkStatus();
}

void AppliedControls::Abandon(const ControlPlan& plan,
                              const absl::Status& reason) {
  LOG(WARNING) << "a test has no control groups: " << reason.message();
  const absl::Status restored = Restore();
  LOG_IF(ERROR, !restored.ok()) << restored.message();
  descriptors_.clear();
  folders_.clear();
  absl::MutexLock lock(&mutex_);
  written_ = UnheldControls(plan, reason.message());
}

absl::Status AppliedControls::CheckAllHold() const {
  absl::MutexLock lock(&mutex_);
  return CheckHeld(written_, /*strict=*/true);
}

// ---- Use --------------------------------------------------------------------

int AppliedControls::GroupOf(absl::string_view instance) const {
  const auto found = descriptors_.find(std::string(instance));
  return found == descriptors_.end() ? -1 : found->second.get();
}

std::map<std::string, GroupUse> AppliedControls::ReadUse() const {
  std::map<std::string, GroupUse> use;
  const auto add = [&](const std::string& name, const std::string& folder) {
    GroupUse read = ReadGroupUse(folder, *host_.files);
    if (read.ByteSizeLong() > 0) use[name] = std::move(read);
  };
  if (!delegated_folder_.empty()) add("", delegated_folder_);
  for (const auto& [instance, folder] : folders_) add(instance, folder);
  return use;
}

void AppliedControls::Verify() {
  absl::MutexLock lock(&mutex_);
  for (WrittenControl& control : written_) control.Verify(*host_.files);
  AddNewNeighbours();
}

void AppliedControls::AddNewNeighbours() {
  if (everything_else_.empty()) return;
  const auto paths = NeighbourPaths(hierarchy_, *host_.files);
  if (!paths.ok()) {
    AddUnheld(everything_else_, "everything else",
              absl::StrCat("which groups there are at the end is unknown: ",
                           paths.status().message()),
              written_);
    return;
  }
  for (const std::string& path : *paths) {
    if (!neighbours_.insert(path).second) continue;
    AddUnheld(everything_else_, path,
              "the group was made during the test, and was not set; keep "
              "others from starting services and sessions meanwhile",
              written_);
  }
}

std::vector<ControlProof> AppliedControls::proofs() const {
  absl::MutexLock lock(&mutex_);
  std::vector<ControlProof> proofs;
  for (const WrittenControl& control : written_) {
    proofs.push_back(control.proof);
  }
  return proofs;
}

// ---- The way back -----------------------------------------------------------

absl::Status AppliedControls::Restore() {
  absl::MutexLock lock(&mutex_);
  if (journal_ == nullptr) return absl::OkStatus();
  const auto contents = journal_->Read();
  if (!contents.ok()) return contents.status();  // the guardian knows as much
  const UndoReport report =
      Undo(contents->records, *host_.files, kUndoPatience);
  for (WrittenControl& control : written_) {
    const std::string after = AfterUndo(report, control);
    if (control.proof.has_before() && !after.empty()) {
      control.proof.set_after(after);
    }
  }
  for (const std::string& sentence : report.left) LOG(WARNING) << sentence;
  // The lease is held until the guardian has gone.
  if (guardian_ != nullptr) guardian_->Dismiss();
  guardian_.reset();
  absl::Status status = absl::OkStatus();
  if (report.problems.empty()) {
    status = journal_->Remove();
  } else {
    status = absl::InternalError(absl::StrCat(
        "controls could not be undone, and remain for the next test to try "
        "again:\n",
        absl::StrJoin(report.problems, "\n")));
  }
  journal_.reset();
  return status;
}

AppliedControls::~AppliedControls() {
  const absl::Status status = Restore();
  LOG_IF(ERROR, !status.ok()) << status.message();
}

}  // namespace distbench::protection
