// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/hosts.h"

#include <unistd.h>

#include "distbench/base/files.h"

namespace distbench::base {
namespace {

bool MayBeSameBoot(absl::string_view a, absl::string_view b) {
  return a == b || a.empty() || b.empty();
}

}  // namespace

std::string Hostname() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name;
}

std::string BootId(const std::string& root) {
  return FirstLine(root + kBootIdFile);
}

bool IsThisHost(absl::string_view name, absl::string_view boot_id) {
  return name == Hostname() && MayBeSameBoot(boot_id, BootId(""));
}

int HostNumbers::Of(absl::string_view name, absl::string_view boot_id) {
  std::vector<Boot>& boots = by_name_[std::string(name)];
  for (Boot& boot : boots) {
    if (!MayBeSameBoot(boot.id, boot_id)) continue;
    if (boot.id.empty()) boot.id = std::string(boot_id);
    return boot.number;
  }
  boots.push_back({std::string(boot_id), count_});
  return count_++;
}

}  // namespace distbench::base
