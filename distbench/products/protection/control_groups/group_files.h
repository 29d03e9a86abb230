// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The kernel's files of control groups (version 2). Tests stand in for the
// kernel here.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_FILES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::protection {

// Folders and files are named by their whole path. Errors have the code of
// absl::ErrnoToStatus() and name the path. Implementations are thread-safe.
class GroupFiles {
 public:
  virtual ~GroupFiles() = default;

  // Returns the whole file, as the kernel writes it.
  virtual absl::StatusOr<std::string> Read(const std::string& file) const = 0;

  // Writes with a single write(2), as the kernel wants it. The message of an
  // error says what its number means for a file of a control group.
  virtual absl::Status Write(const std::string& file,
                             absl::string_view value) = 0;

  // Makes a group, with the kernel's files; removes one. A group can be removed
  // when it has no processes and no groups below it.
  virtual absl::Status MakeGroup(const std::string& folder) = 0;
  virtual absl::Status RemoveGroup(const std::string& folder) = 0;

  // Returns the names of the groups directly below, sorted.
  virtual absl::StatusOr<std::vector<std::string>> Children(
      const std::string& folder) const = 0;

  // Whether systemd has marked the group as delegated, which it does since
  // version 251.
  virtual bool IsMarkedDelegated(const std::string& folder) const = 0;
};

class KernelGroupFiles final : public GroupFiles {
 public:
  absl::StatusOr<std::string> Read(const std::string& file) const override;
  absl::Status Write(const std::string& file, absl::string_view value) override;
  absl::Status MakeGroup(const std::string& folder) override;
  absl::Status RemoveGroup(const std::string& folder) override;
  absl::StatusOr<std::vector<std::string>> Children(
      const std::string& folder) const override;
  bool IsMarkedDelegated(const std::string& folder) const override;
};

// Whether there is such a group or file.
bool Exists(const std::string& path);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_GROUPS_GROUP_FILES_H_
