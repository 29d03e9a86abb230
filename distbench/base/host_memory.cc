#include "distbench/base/host_memory.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace distbench {
namespace {

// The lesser of two limits, of which 0 is none.
int64_t Tighter(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// The number in a file; 0 if there is no file, or "max" in it.
int64_t ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return 0;
  return number;
}

// The tightest limit of a group and those above it. In a container the path may
// be one of the host's, of which only the end, or nothing, is to be seen here:
// then what there is stands at the top.
int64_t TightestLimit(const std::string& mount, std::string group,
                      const std::string& file) {
  int64_t limit = 0;
  while (true) {
    limit = Tighter(limit, ReadNumber(absl::StrCat(mount, group, "/", file)));
    if (group.empty() || group == "/") return limit;
    group.resize(group.rfind('/'));
  }
}

// /proc/self/cgroup has a line per hierarchy, ID:CONTROLLERS:PATH; that of
// version 2 names no controllers.
int64_t ControlGroupLimit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  int64_t limit = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || !absl::StartsWith(parts[2], "/")) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    if (parts[1].empty()) {
      limit = Tighter(limit, TightestLimit(mount, parts[2], "memory.max"));
    } else if (std::count(controllers.begin(), controllers.end(), "memory")) {
      limit = Tighter(limit, TightestLimit(mount + "/memory", parts[2],
                                           "memory.limit_in_bytes"));
    }
  }
  return limit;
}

}  // namespace

int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field) {
  std::ifstream file(root + "/proc/meminfo");
  const std::string wanted = absl::StrCat(field, ":");
  std::string name;
  int64_t kib = 0;
  std::string rest;
  while (file >> name >> kib && std::getline(file, rest)) {
    if (name == wanted) return kib * 1024;
  }
  return 0;
}

int64_t ReadOomKills(const std::string& root) {
  std::ifstream file(root + "/proc/vmstat");
  std::string name;
  int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

int64_t AllowedMemoryBytes(const std::string& root) {
  return Tighter(ReadMemInfoBytes(root, "MemTotal"), ControlGroupLimit(root));
}

}  // namespace distbench
