// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/hierarchy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"

namespace distbench::protection {
namespace {

// How to get a group of one's own, for the end of messages.
constexpr char kHowToDelegate[] =
    "start the node manager in a delegated group of its own: systemd-run "
    "--scope -p Delegate=yes distbench node_manager ... (with --user unless as "
    "root), or Delegate=yes in its unit; systemd marks such groups since "
    "version 251";

struct Mounts {
  std::optional<base::Mount> version_2;
  std::set<std::string> version_1;  // controllers
};

bool IsController(absl::string_view name) {
  return name == "cpu" || name == "cpuset" || name == "memory" ||
         name == "blkio" || name == "pids";
}

Mounts ReadMounts(const std::string& root) {
  Mounts mounts;
  const auto text = base::ReadFile(base::ProcFolder(root, 0) + "/mountinfo");
  for (base::Mount& mount : base::ParseMountInfo(text.value_or(""))) {
    if (mount.type == "cgroup2" && !mounts.version_2.has_value()) {
      mounts.version_2 = std::move(mount);
    } else if (mount.type == "cgroup") {
      for (absl::string_view option : absl::StrSplit(mount.options, ',')) {
        if (IsController(option)) mounts.version_1.insert(std::string(option));
      }
    }
  }
  return mounts;
}

// The group of this process, as the line of version 2 has it; empty if there is
// none.
std::string OwnGroup(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    absl::string_view path = line;
    if (absl::ConsumePrefix(&path, "0::")) return std::string(path);
  }
  return "";
}

absl::Status Impossible(absl::string_view reason, absl::string_view remedy) {
  return absl::FailedPreconditionError(
      absl::StrCat("control groups cannot be used: ", reason, "; ", remedy));
}

absl::StatusOr<base::Mount> UsableMount(const Mounts& mounts) {
  if (!mounts.version_1.empty()) {
    return Impossible(
        absl::StrCat("this host has version 1 of them (",
                     absl::StrJoin(mounts.version_1, ", "),
                     "), which has no protection of memory and no weights of "
                     "I/O"),
        "boot it with systemd.unified_cgroup_hierarchy=1, or "
        "cgroup_no_v1=all, for version 2");
  }
  if (!mounts.version_2.has_value()) {
    return Impossible("no hierarchy of version 2 is mounted",
                      "mount -t cgroup2 none /sys/fs/cgroup");
  }
  return *mounts.version_2;
}

// The path below the mount. In a container, the mount may be of a group that
// /proc names by its whole path.
absl::StatusOr<std::string> PathBelow(const base::Mount& mount,
                                      std::string path) {
  // In a namespace of groups, the mount of another one begins with "/..".
  const std::string parent = mount.root == "/" ? "" : mount.root;
  const bool is_below =
      path == parent || absl::StartsWith(path, absl::StrCat(parent, "/"));
  if (is_below) path = path.substr(parent.size());
  if (!is_below || absl::StartsWith(path, "/..") ||
      absl::EndsWith(path, " (deleted)")) {
    return Impossible(
        absl::StrCat("the group of this process, ", path, ", is not visible"),
        "in a container, give it a cgroup namespace of its own");
  }
  const std::string manager = absl::StrCat("/", kManagerGroup);
  if (absl::EndsWith(path, manager)) {
    path.resize(path.size() - manager.size());
  }
  return path.empty() ? "/" : path;
}

bool IsWritable(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

absl::Status CheckWritable(const GroupHierarchy& found) {
  const std::string folder = found.DelegatedFolder();
  for (const char* name : {"", "/cgroup.procs", "/cgroup.subtree_control"}) {
    if (IsWritable(folder + name)) continue;
    return Impossible(
        absl::StrCat("the group of this process, ", found.delegated_path,
                     ", is not its own to change (", folder, name,
                     " is not writable)"),
        kHowToDelegate);
  }
  return absl::OkStatus();
}

std::set<std::string> ReadWords(const std::string& path) {
  return absl::StrSplit(base::FirstLine(path), ' ', absl::SkipEmpty());
}

bool IsUnitName(absl::string_view name) {
  for (const char* suffix :
       {".slice", ".scope", ".service", ".socket", ".mount", ".swap"}) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

// Devices with a queue of their own, which io.cost needs, and with a size:
// loop devices without a file have none.
std::vector<std::string> DevicesWithQueues(const std::string& root) {
  const std::string folder = root + "/sys/block";
  std::vector<std::string> names;
  for (const std::string& name : base::NamesIn(folder)) {
    const std::string device = absl::StrCat(folder, "/", name);
    if (Exists(device + "/mq") &&
        base::ReadNumber(device + "/size").value_or(0) > 0) {
      names.push_back(name);
    }
  }
  return names;
}

int VersionOf(const Mounts& mounts) {
  if (!mounts.version_1.empty()) return 1;
  return mounts.version_2.has_value() ? 2 : 0;
}

}  // namespace

std::string GroupHierarchy::Folder(absl::string_view path) const {
  return path == "/" ? mount : absl::StrCat(mount, path);
}

absl::StatusOr<GroupHierarchy> FindHierarchy(const std::string& root,
                                             const GroupFiles& files) {
  const auto mount = UsableMount(ReadMounts(root));
  if (!mount.ok()) return mount.status();
  auto path = PathBelow(*mount, OwnGroup(root));
  if (!path.ok()) return path.status();
  GroupHierarchy found;
  found.mount = root + mount->point;
  found.delegated_path = *std::move(path);
  const std::string folder = found.DelegatedFolder();
  found.is_host_root =
      found.delegated_path == "/" && !Exists(folder + "/cgroup.type");
  if (IsUnitOfSystemd(root, found.delegated_path) &&
      !files.IsMarkedDelegated(folder)) {
    return Impossible(
        absl::StrCat("systemd manages the group of this process, ",
                     found.delegated_path,
                     ", and may undo what others do there"),
        kHowToDelegate);
  }
  absl::Status status = CheckWritable(found);
  if (!status.ok()) return status;
  found.controllers = ReadWords(folder + "/cgroup.controllers");
  if (found.controllers.empty()) {
    return Impossible(absl::StrCat("no controllers are passed on to the group ",
                                   "of this process, ", found.delegated_path),
                      kHowToDelegate);
  }
  return found;
}

ControlGroupFacts ReadControlGroupFacts(const std::string& root,
                                        const GroupFiles& files) {
  ControlGroupFacts facts;
  facts.set_version(VersionOf(ReadMounts(root)));
  const auto found = FindHierarchy(root, files);
  if (!found.ok()) {
    facts.set_problem(std::string(found.status().message()));
    return facts;
  }
  facts.set_delegated_path(found->delegated_path);
  for (const std::string& name : found->controllers)
    facts.add_controllers(name);
  if (IsWritable(found->mount + "/io.cost.qos")) {
    for (std::string& name : DevicesWithQueues(root)) {
      facts.add_io_cost_devices(std::move(name));
    }
  }
  return facts;
}

absl::Status NotPassedOn(absl::string_view controller,
                         absl::string_view delegated_path,
                         const std::set<std::string>& controllers) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the controller ", controller,
      " is not passed on to the group of the "
      "node manager, ",
      delegated_path, ", which has ", absl::StrJoin(controllers, ", "),
      "; have it delegated, too (systemd: Delegate=yes), or enable it in the "
      "kernel"));
}

bool IsUnitOfSystemd(const std::string& root, absl::string_view path) {
  return Exists(root + "/run/systemd/system") &&
         (path == "/" || IsUnitName(path));
}

namespace {

// What all groups of ours begin with.
constexpr char kOwnPrefix[] = "distbench.";

absl::Status AddChildren(const GroupHierarchy& hierarchy,
                         const std::string& parent, const std::string& without,
                         const GroupFiles& files,
                         std::vector<std::string>& paths) {
  const auto names = files.Children(hierarchy.Folder(parent));
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == without) continue;
    paths.push_back(absl::StrCat(parent == "/" ? "" : parent, "/", name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NeighbourPaths(
    const GroupHierarchy& hierarchy, const GroupFiles& files) {
  std::vector<std::string> paths;
  std::string path = hierarchy.delegated_path;
  if (path == "/") {
    absl::Status status = AddChildren(hierarchy, "/", "", files, paths);
    if (!status.ok()) return status;
    std::erase_if(paths, [](const std::string& child) {
      return absl::StartsWith(child, absl::StrCat("/", kOwnPrefix));
    });
    return paths;
  }
  while (path != "/") {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
    absl::Status status =
        AddChildren(hierarchy, parent, path.substr(slash + 1), files, paths);
    if (!status.ok()) return status;
    path = parent;
  }
  return paths;
}

namespace {

constexpr int64_t kNsPerUs = 1'000;

class GroupReader {
 public:
  GroupReader(const std::string& folder, const GroupFiles& files)
      : folder_(folder), files_(files) {}

  // The only number in a file.
  std::optional<int64_t> Number(absl::string_view file) const {
    return Parse(Text(file));
  }

  // The number of a line "NAME NUMBER".
  std::optional<int64_t> Line(absl::string_view file,
                              absl::string_view name) const {
    for (const Words& words : Lines(file)) {
      if (words.size() == 2 && words[0] == name) return Parse(words[1]);
    }
    return std::nullopt;
  }

  // The number of "KEY=NUMBER" in a line that begins with a name.
  std::optional<int64_t> Key(absl::string_view file, absl::string_view name,
                             absl::string_view key) const {
    for (const Words& words : Lines(file)) {
      if (words[0] == name) return FindKey(words, key);
    }
    return std::nullopt;
  }

  // The sum of "KEY=NUMBER" in all lines: 0 if there are none, as in a group
  // that has not used any device.
  std::optional<int64_t> Sum(absl::string_view file,
                             absl::string_view key) const {
    if (!Read(file).ok()) return std::nullopt;
    int64_t sum = 0;
    for (const Words& words : Lines(file)) {
      sum += FindKey(words, key).value_or(0);
    }
    return sum;
  }

 private:
  using Words = std::vector<std::string>;

  // Each file is read once: opening it takes the kernel longer than writing its
  // text, and all numbers of a file are then of the same moment.
  const absl::StatusOr<std::string>& Read(absl::string_view file) const {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    return texts_.emplace(file, files_.Read(absl::StrCat(folder_, "/", file)))
        .first->second;
  }

  std::string Text(absl::string_view file) const {
    return Read(file).value_or("");
  }

  // Each has at least one word.
  std::vector<Words> Lines(absl::string_view file) const {
    const std::string text = Text(file);
    std::vector<Words> lines;
    for (absl::string_view line :
         absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
      lines.push_back(absl::StrSplit(line, ' ', absl::SkipEmpty()));
    }
    return lines;
  }

  static std::optional<int64_t> Parse(const std::string& text) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
    return number;
  }

  static std::optional<int64_t> FindKey(const Words& words,
                                        absl::string_view key) {
    for (const std::string& word : words) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      if (parts.first == key) return Parse(parts.second);
    }
    return std::nullopt;
  }

  const std::string& folder_;
  const GroupFiles& files_;
  mutable std::map<std::string, absl::StatusOr<std::string>, std::less<>>
      texts_;
};

using Setter = void (GroupUse::*)(int64_t);

void SetIf(std::optional<int64_t> value, int64_t unit, Setter set,
           GroupUse& use) {
  if (value.has_value()) (use.*set)(*value * unit);
}

}  // namespace

GroupUse ReadGroupUse(const std::string& folder, const GroupFiles& files) {
  const GroupReader group(folder, files);
  GroupUse use;
  const auto set = [&](std::optional<int64_t> value, Setter setter) {
    SetIf(value, 1, setter, use);
  };
  const auto set_us = [&](std::optional<int64_t> value, Setter setter) {
    SetIf(value, kNsPerUs, setter, use);
  };
  set_us(group.Line("cpu.stat", "usage_usec"), &GroupUse::set_cpu_ns);
  set_us(group.Line("cpu.stat", "system_usec"), &GroupUse::set_system_cpu_ns);
  set_us(group.Line("cpu.stat", "throttled_usec"), &GroupUse::set_throttled_ns);
  set(group.Number("memory.current"), &GroupUse::set_memory_bytes);
  set(group.Number("memory.swap.current"), &GroupUse::set_swap_bytes);
  set(group.Sum("io.stat", "rbytes"), &GroupUse::set_read_bytes);
  set(group.Sum("io.stat", "wbytes"), &GroupUse::set_written_bytes);
  set(group.Sum("io.stat", "rios"), &GroupUse::set_read_operations);
  set(group.Sum("io.stat", "wios"), &GroupUse::set_write_operations);
  set_us(group.Key("cpu.pressure", "some", "total"),
         &GroupUse::set_some_cpu_pressure_ns);
  set_us(group.Key("memory.pressure", "some", "total"),
         &GroupUse::set_some_memory_pressure_ns);
  set_us(group.Key("memory.pressure", "full", "total"),
         &GroupUse::set_full_memory_pressure_ns);
  set_us(group.Key("io.pressure", "some", "total"),
         &GroupUse::set_some_io_pressure_ns);
  set_us(group.Key("io.pressure", "full", "total"),
         &GroupUse::set_full_io_pressure_ns);
  return use;
}

}  // namespace distbench::protection
