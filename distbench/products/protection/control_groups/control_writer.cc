// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/control_writer.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/saturating_add.h"
#include "distbench/products/protection/control_groups/processes.h"
#include "distbench/products/protection/control_groups/settings.h"

namespace distbench::protection {
namespace {

using Kind = JournalRecord::Kind;

constexpr char kPassingOn[] = "/cgroup.subtree_control";

std::string Join(const std::string& path, const std::string& name) {
  return absl::StrCat(path == "/" ? "" : path, "/", name);
}

// Settings that protect a group only as far as each group above it is
// protected, and of which a member gets none from its group. The members of a
// group share what protects it.
bool IsProtection(const FileSetting& setting) {
  return setting.file == "memory.min" || setting.file == "memory.low";
}

int64_t Bytes(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  int64_t bytes = 0;
  return absl::SimpleAtoi(text, &bytes) ? bytes
                                        : std::numeric_limits<int64_t>::max();
}

// The inverse of Bytes().
std::string Amount(int64_t bytes) {
  return bytes == std::numeric_limits<int64_t>::max() ? "max"
                                                      : absl::StrCat(bytes);
}

// Controllers without which there are no statistics of a group.
std::set<std::string> NeededControllers(
    const std::vector<PlannedGroup>& groups) {
  std::set<std::string> needed = {"cpu", "io", "memory"};
  for (const PlannedGroup& group : groups) {
    for (const FileSetting& setting : group.settings) {
      needed.insert(setting.controller());
    }
  }
  return needed;
}

// The kernel does not let a group with processes lose its list of CPUs or
// memory nodes (ENOSPC), and processes may come into it during the test.
absl::Status CheckUndoable(const JournalRecord& record) {
  if (!absl::StartsWith(record.file, "cpuset.") || !record.before.empty()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      record.folder, "/", record.file,
      " is empty, which it could not become again while the group has "
      "processes; write to it what ",
      record.file, ".effective there says, before the test"));
}

// Whatever is in a group of the journal is killed at the end.
absl::Status CheckNew(const std::string& folder) {
  if (!Exists(folder)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the control group ", folder,
      " exists already, and no journal says whose it is: another node manager "
      "may use it, with another --control_state_dir; give both the same. "
      "Otherwise end what is in the group, and remove it (rmdir)"));
}

// A list may name what a group above lacks, or what is offline; what is in
// effect is another file. If nothing is left, that is what the group above has.
absl::Status CheckInEffect(const std::string& folder,
                           const FileSetting& setting,
                           const GroupFiles& files) {
  if (!absl::StartsWith(setting.file, "cpuset.")) return absl::OkStatus();
  const std::string file =
      absl::StrCat(folder, "/", setting.file, ".effective");
  const auto text = files.Read(file);
  if (!text.ok() || Says(setting.file, *text, setting.value)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "in effect is ", absl::StripAsciiWhitespace(*text), " (", file,
      "), because the groups above do not have all of it, or some of it is "
      "offline"));
}

void Fail(const absl::Status& status, ControlProof& proof) {
  proof.set_held(false);
  proof.set_problem(std::string(status.message()));
}

}  // namespace

void WrittenControl::Verify(const GroupFiles& files) {
  if (!proof.held()) return;
  const auto text = files.Read(absl::StrCat(folder, "/", setting.file));
  if (is_of_others && absl::IsNotFound(text.status()) && !Exists(folder)) {
    return;
  }
  if (!text.ok()) return Fail(text.status(), proof);
  if (Says(setting.file, *text, setting.value)) {
    const absl::Status in_effect = CheckInEffect(folder, setting, files);
    if (!in_effect.ok()) Fail(in_effect, proof);
    return;
  }
  Fail(absl::AbortedError(absl::StrCat(
           "during the test, somebody else changed it to \"",
           RelevantPart(setting.file, *text, setting.value), "\"")),
       proof);
}

// ---- Groups -----------------------------------------------------------------

absl::Status ControlWriter::OpenDelegatedGroup(
    const std::vector<PlannedGroup>& groups) {
  if (groups.empty()) return absl::OkStatus();
  for (const PlannedGroup& group : groups) {
    for (const FileSetting& setting : group.settings) {
      if (!IsProtection(setting) || !setting.problem.ok()) continue;
      base::SaturatingAddTo(protections_[setting.file], Bytes(setting.value));
    }
  }
  // At the root of the host, processes and groups may be side by side.
  if (!hierarchy_.is_host_root) {
    absl::Status status = EnterManagerGroup();
    if (!status.ok()) return status;
  }
  return PassOn(NeededControllers(groups));
}

absl::Status ControlWriter::EnterManagerGroup() {
  const std::string from = hierarchy_.DelegatedFolder();
  const std::string to = absl::StrCat(from, "/", kManagerGroup);
  absl::Status status = CheckOwnProcesses(root_, from, files_);
  if (status.ok()) status = CheckNew(to);
  if (!status.ok()) return status;
  status =
      journal_.Append({.kind = Kind::kManager, .folder = to, .before = from});
  if (status.ok()) status = files_.MakeGroup(to);
  if (status.ok()) status = MoveProcesses(from, to, files_);
  return status;
}

absl::Status ControlWriter::PassOn(const std::set<std::string>& controllers) {
  const std::string folder = hierarchy_.DelegatedFolder();
  const auto text = files_.Read(folder + kPassingOn);
  if (!text.ok()) return text.status();
  const std::set<std::string> before =
      absl::StrSplit(absl::StripAsciiWhitespace(*text), ' ', absl::SkipEmpty());
  std::set<std::string> added;
  for (const std::string& name : controllers) {
    if (hierarchy_.controllers.count(name) == 0) continue;
    (before.count(name) > 0 ? passed_on_ : added).insert(name);
  }
  if (added.empty()) return absl::OkStatus();
  absl::Status status = journal_.Append({.kind = Kind::kControllers,
                                         .folder = folder,
                                         .value = absl::StrJoin(added, " ")});
  if (!status.ok()) return status;
  for (const std::string& name : added) {
    absl::Status written =
        files_.Write(folder + kPassingOn, absl::StrCat("+", name));
    if (written.ok()) passed_on_.insert(name);
    if (!written.ok()) refused_[name] = std::move(written);
  }
  return absl::OkStatus();
}

absl::Status ControlWriter::MakeOneGroup(const std::string& path) {
  const std::string folder = hierarchy_.Folder(path);
  absl::Status status = CheckNew(folder);
  if (status.ok()) {
    status = journal_.Append({.kind = Kind::kGroup, .folder = folder});
  }
  return status.ok() ? files_.MakeGroup(folder) : status;
}

// A controller that cannot be passed on is missed when a member's file is.
void ControlWriter::PassOnWithin(const std::string& folder) {
  for (const std::string& name : passed_on_) {
    files_.Write(folder + kPassingOn, absl::StrCat("+", name)).IgnoreError();
  }
}

absl::Status ControlWriter::MakeGroup(const PlannedGroup& group) {
  const std::string path = Join(hierarchy_.delegated_path, group.folder_name);
  absl::Status status = MakeOneGroup(path);
  if (!status.ok()) return status;
  for (const FileSetting& setting : group.settings) {
    status = Set(setting, path, InstancesOf(group), Owner::kTest);
    if (!status.ok()) return status;
  }
  PassOnWithin(hierarchy_.Folder(path));
  for (const PlannedGroup::Member& member : group.members) {
    const std::string below = Join(path, member.folder_name);
    status = MakeOneGroup(below);
    if (!status.ok()) return status;
    folders_[member.instance] = hierarchy_.Folder(below);
    for (const FileSetting& setting : group.settings) {
      if (!IsProtection(setting)) continue;
      status = Set(setting, below, member.instance, Owner::kTest);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// ---- Others -----------------------------------------------------------------

absl::Status ControlWriter::SetNeighbour(const FileSetting& setting,
                                         const std::string& path) {
  FileSetting checked = setting;
  if (checked.problem.ok() && IsUnitOfSystemd(root_, path)) {
    checked.problem = absl::FailedPreconditionError(absl::StrCat(
        "systemd manages ", path,
        ", and may overwrite what others set there; "
        "leave out everything_else, and have systemd set it for the time of "
        "the test (systemctl set-property --runtime)"));
  }
  return Set(checked, path, path, Owner::kOthers);
}

absl::Status ControlWriter::SetNeighbours(
    const std::vector<FileSetting>& settings,
    const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    for (const FileSetting& setting : settings) {
      // It may have ended since the list was made.
      if (!Exists(hierarchy_.Folder(path))) break;
      absl::Status status = SetNeighbour(setting, path);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ControlWriter::SetDevices(
    const std::vector<FileSetting>& settings) {
  for (const FileSetting& setting : settings) {
    absl::Status status = Set(setting, "/", "/", Owner::kOthers);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ---- Settings ---------------------------------------------------------------

absl::Status ControlWriter::Set(const FileSetting& setting,
                                const std::string& path,
                                const std::string& label, Owner owner) {
  WrittenControl control = {.folder = hierarchy_.Folder(path),
                            .setting = setting,
                            .proof = {},
                            .is_of_others = owner == Owner::kOthers};
  control.proof.set_group(label);
  control.proof.set_path(path);
  control.proof.set_file(setting.file);
  control.proof.set_wanted(setting.value);
  control.proof.set_held(true);
  absl::Status status = absl::OkStatus();
  const absl::Status possible = CheckPossible(setting, owner);
  if (possible.ok()) {
    status = Write(control, owner);
  } else {
    Fail(possible, control.proof);
  }
  written_.push_back(std::move(control));
  return status;
}

absl::Status ControlWriter::Write(WrittenControl& control, Owner owner) {
  const FileSetting& setting = control.setting;
  const std::string file = absl::StrCat(control.folder, "/", setting.file);
  const auto before = files_.Read(file);
  if (!before.ok()) {
    Fail(before.status(), control.proof);
    return absl::OkStatus();
  }
  control.proof.set_before(RelevantPart(setting.file, *before, setting.value));
  JournalRecord record = {
      .kind = Kind::kValue,
      .folder = control.folder,
      .file = setting.file,
      .value = setting.value,
      .before = UndoingValue(setting.file, *before, setting.value)};
  // What is in a group of the test is undone with the group.
  if (owner == Owner::kOthers) {
    const absl::Status undoable = CheckUndoable(record);
    if (!undoable.ok()) {
      Fail(undoable, control.proof);
      return absl::OkStatus();
    }
    absl::Status status = journal_.Append(record);
    if (!status.ok()) return status;
  }
  const absl::Status written = files_.Write(file, setting.value);
  const auto text = files_.Read(file);
  const absl::Status held =
      written.ok() ? CheckHeld(control, text, owner) : written;
  if (!held.ok()) Fail(held, control.proof);
  if (!text.ok()) return absl::OkStatus();
  control.proof.set_read_back(RelevantPart(setting.file, *text, setting.value));
  if (owner == Owner::kTest || !written.ok() ||
      Says(setting.file, *text, setting.value)) {
    return absl::OkStatus();
  }
  // Otherwise the way back would take what the kernel made of the value for
  // that of somebody else.
  record.value = UndoingValue(setting.file, *text, setting.value);
  return journal_.Append(record);
}

absl::Status ControlWriter::CheckHeld(const WrittenControl& control,
                                      const absl::StatusOr<std::string>& text,
                                      Owner owner) const {
  const FileSetting& setting = control.setting;
  if (!text.ok()) return text.status();
  if (!Says(setting.file, *text, setting.value)) {
    return absl::AbortedError(
        "the kernel accepted another value than was wanted");
  }
  absl::Status status = CheckInEffect(control.folder, setting, files_);
  if (status.ok() && owner == Owner::kTest) {
    status = CheckProtectionAbove(setting);
  }
  return status;
}

absl::Status ControlWriter::CheckPossible(const FileSetting& setting,
                                          Owner owner) const {
  if (!setting.problem.ok()) return setting.problem;
  if (owner == Owner::kOthers) return absl::OkStatus();
  const std::string controller = setting.controller();
  const auto refused = refused_.find(controller);
  if (refused != refused_.end()) return refused->second;
  if (passed_on_.count(controller) > 0) return absl::OkStatus();
  return NotPassedOn(controller, hierarchy_.delegated_path,
                     hierarchy_.controllers);
}

absl::Status ControlWriter::CheckProtectionAbove(
    const FileSetting& setting) const {
  if (!IsProtection(setting)) return absl::OkStatus();
  const int64_t wanted = protections_.at(setting.file);
  const bool is_sum = wanted > Bytes(setting.value);
  std::string folder = hierarchy_.DelegatedFolder();
  for (; absl::StartsWith(folder, hierarchy_.mount);
       folder.resize(folder.rfind('/'))) {
    const auto text = files_.Read(absl::StrCat(folder, "/", setting.file));
    if (!text.ok()) continue;  // the root of the host has no such file
    if (Bytes(*text) >= wanted) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "it has no effect beyond that of ", folder, "/", setting.file,
        ", which is ", absl::StripAsciiWhitespace(*text),
        is_sum ? " and is divided among the test's groups" : "",
        "; set that to at least ", Amount(wanted),
        is_sum ? ", what they ask for together" : "",
        " (of a unit of systemd: MemoryMin= or MemoryLow=)"));
  }
  return absl::OkStatus();
}

}  // namespace distbench::protection
