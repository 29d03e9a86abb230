#include "distbench/base/control_group.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench::base {
namespace {

// In a container the path may be the host's. Only its end may be visible here,
// or nothing; the container's own group is then at the top.
void AddWithThoseAbove(const std::string& mount, absl::string_view path,
                       int version, std::vector<ControlGroupFolder>& groups) {
  std::string group(path);
  while (true) {
    groups.push_back({absl::StrCat(mount, group), version});
    if (group.empty() || group == "/") return;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

// /proc/self/cgroup has one line per hierarchy, ID:CONTROLLERS:PATH; the line
// of version 2 names no controllers.
std::vector<ControlGroupFolder> ControlGroupsOf(absl::string_view controller,
                                                const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  std::vector<ControlGroupFolder> groups;
  for (std::string line; std::getline(file, line);) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || !absl::StartsWith(parts[2], "/")) continue;
    const std::vector<absl::string_view> controllers =
        absl::StrSplit(parts[1], ',');
    if (parts[1].empty()) {
      AddWithThoseAbove(mount, parts[2], 2, groups);
    } else if (std::count(controllers.begin(), controllers.end(), controller) >
               0) {
      AddWithThoseAbove(absl::StrCat(mount, "/", controller), parts[2], 1,
                        groups);
    }
  }
  return groups;
}

}  // namespace distbench::base
