// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"

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

namespace {

// The lower of two limits, where 0 means no limit.
int64_t Tighter(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

int64_t ControlGroupLimit(const std::string& root) {
  int64_t limit = 0;
  for (const ControlGroupFolder& group : ControlGroupsOf("memory", root)) {
    const char* const file =
        group.version == 1 ? "memory.limit_in_bytes" : "memory.max";
    limit = Tighter(
        limit, ReadNumber(absl::StrCat(group.folder, "/", file)).value_or(0));
  }
  return limit;
}

}  // namespace

int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field) {
  const std::string text = ReadTextOf(root + "/proc/meminfo", field);
  int64_t kib = 0;
  return absl::SimpleAtoi(absl::StripSuffix(text, " kB"), &kib) ? kib * 1024
                                                                : 0;
}

int64_t ReadOomKills(const std::string& root) {
  return ReadNumberOf(root + "/proc/vmstat", "oom_kill").value_or(0);
}

int64_t AllowedMemoryBytes(const std::string& root) {
  return Tighter(ReadMemInfoBytes(root, "MemTotal"), ControlGroupLimit(root));
}

void ReturnFreedMemory() {
  static std::mutex mutex;
  const std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) malloc_trim(/*pad=*/0);
}

void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace distbench::base
