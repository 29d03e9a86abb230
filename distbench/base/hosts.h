// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which host a process is on, and which processes share one.

#ifndef DISTBENCH_BASE_HOSTS_H_
#define DISTBENCH_BASE_HOSTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::base {

// The host's name; "localhost" if it has none.
std::string Hostname();

// Where the kernel says what it drew when it booted.
inline constexpr char kBootIdFile[] = "/proc/sys/kernel/random/boot_id";

// This host's, with that file below `root` (empty: the real one); empty if it
// is not known.
std::string BootId(const std::string& root);

// Names do not tell hosts apart: ten virtual machines may all be "localhost".
// Boot ids do not either: containers of one host have the same, but not the
// same addresses and CPUs. Hosts are the same if both are, or if the names are
// and one of the boot ids is not known.

bool IsThisHost(absl::string_view name, absl::string_view boot_id);

// Numbers hosts from 0, in the order in which they are met.
class HostNumbers {
 public:
  int Of(absl::string_view name, absl::string_view boot_id);

  int count() const { return count_; }

 private:
  struct Boot {
    std::string id;
    int number;
  };

  std::map<std::string, std::vector<Boot>> by_name_;
  int count_ = 0;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_HOSTS_H_
