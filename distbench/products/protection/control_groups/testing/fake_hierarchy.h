// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A fake hierarchy of control groups made of files, in a directory that the
// test owns, and a stand-in for the kernel behind these files.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_FAKE_HIERARCHY_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_FAKE_HIERARCHY_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/protection/control_groups/group_files.h"

namespace distbench::protection {

// Does what the kernel does: makes the files of a group with it, keeps to the
// rule that a group cannot contain processes and pass on controllers, moves
// processes, rounds memory to pages, keeps a line for each device, and says
// what is in effect of lists. All state is in the files, so that several
// processes can use one hierarchy.
class FakeGroupFiles final : public GroupFiles {
 public:
  // `mount` is the folder of the root group.
  explicit FakeGroupFiles(std::string mount) : mount_(std::move(mount)) {}

  absl::StatusOr<std::string> Read(const std::string& file) const override;
  absl::Status Write(const std::string& file, absl::string_view value) override;
  absl::Status MakeGroup(const std::string& folder) override;
  absl::Status RemoveGroup(const std::string& folder) override;
  absl::StatusOr<std::vector<std::string>> Children(
      const std::string& folder) const override;
  bool IsMarkedDelegated(const std::string& folder) const override;

  // Called before each change, with the path; what it returns, the operation
  // returns. For errors, and for deaths in the middle.
  std::function<absl::Status(const std::string& path)> before_change;

  // Groups that systemd has marked.
  std::vector<std::string> delegated;

 private:
  friend class FakeHierarchy;

  // What is in effect of the list of CPUs or memory nodes in a file.
  std::string Effective(const std::string& file) const;
  absl::Status PassOn(const std::string& folder, absl::string_view words);
  absl::Status PassOnOne(const std::string& folder, absl::string_view word);
  absl::Status Enter(const std::string& folder, absl::string_view pid);
  void Kill(const std::string& folder);
  void AddFiles(const std::string& folder, const std::string& controller);
  void RemoveFiles(const std::string& folder, const std::string& controller);
  void RemoveFromAll(const std::string& folder, const std::string& pid);
  absl::Status Change(const std::string& path) const;

  const std::string mount_;
};

// The files of a host with control groups, version 2, one disk ("disk0", 8:0,
// with a partition "disk0p1"), 4 CPUs and 1 GiB of memory.
class FakeHierarchy {
 public:
  // This process is in the group `path` below the mount; all groups on the way
  // exist, and have all controllers.
  explicit FakeHierarchy(const std::string& path = "/service");
  ~FakeHierarchy();

  FakeHierarchy(const FakeHierarchy&) = delete;
  FakeHierarchy& operator=(const FakeHierarchy&) = delete;

  const std::string& root() const { return root_; }
  std::string mount() const { return root_ + "/sys/fs/cgroup"; }
  std::string state_folder() const { return root_ + "/state"; }

  FakeGroupFiles& files() { return files_; }

  // Paths are below the root of the file system.
  void Write(const std::string& path, const std::string& text) const;
  std::string Read(const std::string& path) const;

  // Paths are below the mount.
  void MakeGroup(const std::string& path);
  std::string ReadGroup(const std::string& path_of_file) const;

  // Adds a process to /proc, and to a group.
  void AddProcess(int pid, int parent, const std::string& name,
                  const std::string& group);

  // Takes a process out of all groups, as at its end.
  void RemoveProcess(int pid);

  // Every file of the hierarchy with its text, for comparisons.
  std::string Snapshot() const;

 private:
  std::string root_;
  FakeGroupFiles files_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_TESTING_FAKE_HIERARCHY_H_
