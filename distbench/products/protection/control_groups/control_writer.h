// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Makes groups and settings, each recorded in a journal before.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_WRITER_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_WRITER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/protection/control_groups/control_plan.h"
#include "distbench/products/protection/control_groups/group_files.h"
#include "distbench/products/protection/control_groups/hierarchy.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/settings.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// A setting of a file, and its proof so far.
struct WrittenControl {
  std::string folder;
  FileSetting setting;
  ControlProof proof;

  // Whether the group is not of the test, and may therefore end during it, as
  // services and sessions do.
  bool is_of_others = false;

  // Reads the file again; the proof holds no longer if it says something else.
  void Verify(const GroupFiles& files);
};

// Not thread-safe. All references must outlive it. Errors are those that make
// all controls impossible; what makes one setting impossible is in its proof.
class ControlWriter {
 public:
  ControlWriter(const std::string& root, const GroupHierarchy& hierarchy,
                GroupFiles& files, Journal& journal)
      : root_(root), hierarchy_(hierarchy), files_(files), journal_(journal) {}

  // Moves this process, and those that it started, out of the delegated group,
  // and passes on the controllers that the groups need for settings and
  // statistics.
  absl::Status OpenDelegatedGroup(const std::vector<PlannedGroup>& groups);

  // Makes a group, with those of its members, and its settings.
  absl::Status MakeGroup(const PlannedGroup& group);

  // Makes the settings of everything beside the delegated group.
  absl::Status SetNeighbours(const std::vector<FileSetting>& settings,
                             const std::vector<std::string>& paths);

  // Makes the settings of devices.
  absl::Status SetDevices(const std::vector<FileSetting>& settings);

  // The folders of the members' groups, by instance.
  std::map<std::string, std::string> TakeFolders() {
    return std::move(folders_);
  }
  std::vector<WrittenControl> TakeWritten() { return std::move(written_); }

 private:
  enum class Owner { kTest, kOthers };

  absl::Status EnterManagerGroup();
  absl::Status PassOn(const std::set<std::string>& controllers);
  absl::Status MakeOneGroup(const std::string& path);
  void PassOnWithin(const std::string& folder);
  absl::Status SetNeighbour(const FileSetting& setting,
                            const std::string& path);

  // Appends to written_. The error is that of the journal.
  absl::Status Set(const FileSetting& setting, const std::string& path,
                   const std::string& label, Owner owner);
  absl::Status Write(WrittenControl& control, Owner owner);
  absl::Status CheckHeld(const WrittenControl& control,
                         const absl::StatusOr<std::string>& text,
                         Owner owner) const;
  absl::Status CheckPossible(const FileSetting& setting, Owner owner) const;
  absl::Status CheckProtectionAbove(const FileSetting& setting) const;

  const std::string& root_;
  const GroupHierarchy& hierarchy_;
  GroupFiles& files_;
  Journal& journal_;

  // What the groups of the test ask for together, by file: the kernel divides
  // the protection of the delegated group among them.
  std::map<std::string, int64_t> protections_;

  // The controllers that are passed on, and why others are not.
  std::set<std::string> passed_on_;
  std::map<std::string, absl::Status> refused_;

  std::map<std::string, std::string> folders_;
  std::vector<WrittenControl> written_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_CONTROL_WRITER_H_
