// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"

#include <glog/logging.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/index_list.h"

namespace distbench::protection {
namespace {

constexpr char kControllers[] = "cpu cpuset io memory";

std::string MakeRoot() {
  std::string root =
      (std::filesystem::temp_directory_path() / "fake_groups_XXXXXX").string();
  CHECK(mkdtemp(root.data()) != nullptr) << root;
  return root;
}

}  // namespace

FakeHierarchy::FakeHierarchy(const std::string& path)
    : root_(MakeRoot()), files_(mount()) {
  Write("/proc/self/mountinfo",
        "25 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  Write("/proc/self/cgroup", absl::StrCat("0::", path, "\n"));
  Write("/proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1048576 kB\n");
  Write("/proc/sys/kernel/random/boot_id", "boot-1\n");
  Write("/sys/devices/system/cpu/online", "0-3\n");
  Write("/sys/class/block/disk0/dev", "8:0\n");
  Write("/sys/class/block/disk0p1/dev", "8:1\n");
  Write("/sys/class/block/disk0p1/partition", "1\n");
  Write("/sys/dev/block/8:0/dev", "8:0\n");
  Write("/sys/block/disk0/size", "1024\n");
  Write("/sys/block/disk0/mq/0/cpu_list", "0-3\n");
  for (const char* name : {"cgroup.procs", "io.cost.qos", "io.cost.model"}) {
    Write(absl::StrCat("/sys/fs/cgroup/", name), "");
  }
  Write("/sys/fs/cgroup/cgroup.controllers", absl::StrCat(kControllers, "\n"));
  Write("/sys/fs/cgroup/cgroup.subtree_control",
        path == "/" ? "" : absl::StrCat(kControllers, "\n"));
  std::string group;
  for (absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (!group.empty()) {
      Write(absl::StrCat("/sys/fs/cgroup", group, "/cgroup.subtree_control"),
            absl::StrCat(kControllers, "\n"));
    }
    absl::StrAppend(&group, "/", part);
    MakeGroup(group);
  }
}

FakeHierarchy::~FakeHierarchy() { std::filesystem::remove_all(root_); }

void FakeHierarchy::Write(const std::string& path,
                          const std::string& text) const {
  const std::filesystem::path whole = root_ + path;
  std::filesystem::create_directories(whole.parent_path());
  std::ofstream file(whole);
  file << text;
  CHECK(file.good()) << whole;
}

std::string FakeHierarchy::Read(const std::string& path) const {
  std::ostringstream text;
  text << std::ifstream(root_ + path).rdbuf();
  return text.str();
}

void FakeHierarchy::MakeGroup(const std::string& path) {
  const absl::Status status = files_.MakeGroup(mount() + path);
  CHECK(status.ok()) << status;
}

std::string FakeHierarchy::ReadGroup(const std::string& path_of_file) const {
  const std::string text = Read("/sys/fs/cgroup" + path_of_file);
  return std::string(absl::StripSuffix(text, "\n"));
}

void FakeHierarchy::AddProcess(int pid, int parent, const std::string& name,
                               const std::string& group) {
  const std::string folder = absl::StrCat("/proc/", pid);
  Write(folder + "/comm", name + "\n");
  Write(folder + "/stat",
        absl::StrCat(pid, " (", name, ") S ", parent, " 1\n"));
  const absl::Status status = files_.Write(
      absl::StrCat(mount(), group, "/cgroup.procs"), absl::StrCat(pid));
  CHECK(status.ok()) << status;
}

void FakeHierarchy::RemoveProcess(int pid) {
  files_.RemoveFromAll(mount(), absl::StrCat(pid));
}

std::string FakeHierarchy::Snapshot() const {
  std::map<std::string, std::string> texts;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(mount())) {
    const std::string path = entry.path().string().substr(root_.size());
    texts[path] = entry.is_directory() ? "" : Read(path);
  }
  std::string all;
  for (const auto& [path, text] : texts) {
    absl::StrAppend(&all, path, ": ", text, "\n");
  }
  return all;
}

namespace {

constexpr int64_t kPageBytes = 4096;

using Texts = std::map<std::string, std::string>;

Texts FilesOf(const std::string& controller) {
  if (controller == "cpu") {
    return {{"cpu.weight", "100"}, {"cpu.max", "max 100000"}};
  }
  if (controller == "cpuset") return {{"cpuset.cpus", ""}, {"cpuset.mems", ""}};
  if (controller == "io") {
    return {{"io.weight", "default 100"}, {"io.max", ""}, {"io.stat", ""}};
  }
  return {{"memory.min", "0"},         {"memory.low", "0"},
          {"memory.high", "max"},      {"memory.max", "max"},
          {"memory.current", "0"},     {"memory.swap.max", "max"},
          {"memory.swap.current", "0"}};
}

std::string Text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void Put(const std::string& file, const std::string& text) {
  std::ofstream(file) << text
                      << (text.empty() || absl::EndsWith(text, "\n") ? ""
                                                                     : "\n");
}

std::set<std::string> WordsOf(const std::string& file) {
  return absl::StrSplit(Text(file), absl::ByAnyChar(" \n"), absl::SkipEmpty());
}

std::string FolderOf(const std::string& file) {
  return file.substr(0, file.rfind('/'));
}

// Replaces the line that begins with the value's first word by `line`, or
// removes it.
std::string WithLine(const std::string& text, absl::string_view word,
                     const std::string& line) {
  std::string result;
  for (absl::string_view each : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(each, absl::StrCat(word, " "))) {
      absl::StrAppend(&result, each, "\n");
    }
  }
  return line.empty() ? result : absl::StrCat(result, line, "\n");
}

std::map<std::string, std::string> KeysOf(absl::string_view line) {
  std::map<std::string, std::string> keys;
  for (absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(word, '=');
    if (parts.size() == 2) keys[parts[0]] = parts[1];
  }
  return keys;
}

// The kernel counts operations in 32 bits, of which the highest is no limit.
std::string AcceptedLimit(absl::string_view key, const std::string& wanted) {
  int64_t count = 0;
  const bool is_none = absl::EndsWith(key, "iops") &&
                       absl::SimpleAtoi(wanted, &count) &&
                       count >= std::numeric_limits<uint32_t>::max();
  return is_none ? "max" : wanted;
}

// Keeps a line for each device, with the keys that were written last.
std::string WithDevice(const std::string& name, const std::string& text,
                       absl::string_view value) {
  const absl::string_view device = value.substr(0, value.find(' '));
  std::map<std::string, std::string> keys;
  if (name == "io.max") {
    keys = {
        {"rbps", "max"}, {"wbps", "max"}, {"riops", "max"}, {"wiops", "max"}};
  } else {
    keys = {{"ctrl", "auto"}};
    if (name == "io.cost.qos") keys["enable"] = "0";
  }
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, absl::StrCat(device, " "))) continue;
    for (const auto& [key, old] : KeysOf(line)) keys[key] = old;
  }
  for (const auto& [key, wanted] : KeysOf(value)) {
    keys[key] = name == "io.max" ? AcceptedLimit(key, wanted) : wanted;
  }
  const bool is_unlimited =
      name == "io.max" && std::all_of(keys.begin(), keys.end(), [](auto& each) {
        return each.second == "max";
      });
  return WithLine(
      text, device,
      is_unlimited
          ? ""
          : absl::StrCat(device, " ",
                         absl::StrJoin(keys, " ", absl::PairFormatter("="))));
}

// What a file of a controller says after a write to that of a group with
// processes, or of one without.
absl::StatusOr<std::string> Accepted(const std::string& name,
                                     const std::string& text,
                                     absl::string_view value,
                                     bool has_processes) {
  if (name == "io.max" || absl::StartsWith(name, "io.cost.")) {
    return WithDevice(name, text, value);
  }
  if (name == "io.weight") return WithLine(text, "default", std::string(value));
  if (absl::StartsWith(name, "cpuset.")) {
    const auto list = base::ParseIndexList(value);
    if (!list.ok()) return list.status();
    if (list->empty() && has_processes &&
        !absl::StripAsciiWhitespace(text).empty()) {
      return absl::ErrnoToStatus(ENOSPC, name);
    }
    return base::FormatIndexList(*list);
  }
  if (absl::StartsWith(name, "memory.") && value != "max") {
    int64_t bytes = 0;
    if (!absl::SimpleAtoi(value, &bytes)) {
      return absl::ErrnoToStatus(EINVAL, name);
    }
    return absl::StrCat(bytes / kPageBytes * kPageBytes);
  }
  return std::string(value);
}

}  // namespace

absl::StatusOr<std::string> FakeGroupFiles::Read(
    const std::string& file) const {
  absl::string_view list = file;
  if (absl::ConsumeSuffix(&list, ".effective")) {
    return Effective(std::string(list));
  }
  if (!Exists(file)) return absl::ErrnoToStatus(ENOENT, file);
  return Text(file);
}

std::string FakeGroupFiles::Effective(const std::string& file) const {
  const std::string folder = FolderOf(file);
  const std::string name = file.substr(folder.size());
  if (folder == mount_) return name == "/cpuset.cpus" ? "0-3" : "0";
  const std::string above = Effective(FolderOf(folder) + name);
  const base::IndexSet shared = base::Intersection(
      *base::ParseIndexList(Text(file)), *base::ParseIndexList(above));
  return shared.empty() ? above : base::FormatIndexList(shared);
}

absl::Status FakeGroupFiles::Change(const std::string& path) const {
  return before_change == nullptr ? absl::OkStatus() : before_change(path);
}

absl::Status FakeGroupFiles::Write(const std::string& file,
                                   absl::string_view value) {
  absl::Status status = Change(file);
  if (!status.ok()) return status;
  if (!Exists(file)) return absl::ErrnoToStatus(ENOENT, file);
  const std::string folder = FolderOf(file);
  const std::string name = file.substr(folder.size() + 1);
  if (name == "cgroup.subtree_control") return PassOn(folder, value);
  if (name == "cgroup.procs") return Enter(folder, value);
  if (name == "cgroup.kill") {
    Kill(folder);
    return absl::OkStatus();
  }
  const auto text = Accepted(name, Text(file), value,
                             !WordsOf(folder + "/cgroup.procs").empty());
  if (!text.ok()) return text.status();
  Put(file, *text);
  return absl::OkStatus();
}

absl::Status FakeGroupFiles::PassOn(const std::string& folder,
                                    absl::string_view words) {
  for (absl::string_view word : absl::StrSplit(words, ' ')) {
    absl::Status status = PassOnOne(folder, word);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FakeGroupFiles::PassOnOne(const std::string& folder,
                                       absl::string_view word) {
  const std::string name(word.substr(1));
  const bool is_added = word[0] == '+';
  std::set<std::string> names = WordsOf(folder + "/cgroup.subtree_control");
  if (WordsOf(folder + "/cgroup.controllers").count(name) == 0) {
    return absl::ErrnoToStatus(ENOENT, absl::StrCat(folder, " ", word));
  }
  const bool has_processes = Exists(folder + "/cgroup.type") &&
                             !Text(folder + "/cgroup.procs").empty();
  if (is_added && has_processes) return absl::ErrnoToStatus(EBUSY, folder);
  const auto below = Children(folder);
  for (const std::string& child : *below) {
    const std::string path = absl::StrCat(folder, "/", child);
    if (!is_added &&
        WordsOf(path + "/cgroup.subtree_control").count(name) > 0) {
      return absl::ErrnoToStatus(EBUSY, path);
    }
  }
  is_added ? void(names.insert(name)) : void(names.erase(name));
  Put(folder + "/cgroup.subtree_control", absl::StrJoin(names, " "));
  for (const std::string& child : *below) {
    const std::string path = absl::StrCat(folder, "/", child);
    Put(path + "/cgroup.controllers", absl::StrJoin(names, " "));
    is_added ? AddFiles(path, name) : RemoveFiles(path, name);
  }
  return absl::OkStatus();
}

absl::Status FakeGroupFiles::Enter(const std::string& folder,
                                   absl::string_view pid) {
  if (Exists(folder + "/cgroup.type") &&
      !WordsOf(folder + "/cgroup.subtree_control").empty()) {
    return absl::ErrnoToStatus(EBUSY, folder);
  }
  RemoveFromAll(mount_, std::string(pid));
  Put(folder + "/cgroup.procs",
      absl::StrCat(Text(folder + "/cgroup.procs"), pid, "\n"));
  return absl::OkStatus();
}

void FakeGroupFiles::RemoveFromAll(const std::string& folder,
                                   const std::string& pid) {
  std::set<std::string> pids = WordsOf(folder + "/cgroup.procs");
  if (pids.erase(pid) > 0) {
    Put(folder + "/cgroup.procs", absl::StrJoin(pids, "\n"));
  }
  const auto below = Children(folder);
  for (const std::string& child : *below) {
    RemoveFromAll(absl::StrCat(folder, "/", child), pid);
  }
}

void FakeGroupFiles::Kill(const std::string& folder) {
  for (const std::string& pid : WordsOf(folder + "/cgroup.procs")) {
    int number = 0;
    // Numbers that no kernel gives out are those of fake processes.
    if (absl::SimpleAtoi(pid, &number) && number < (1 << 22)) {
      kill(number, SIGKILL);
    }
  }
  Put(folder + "/cgroup.procs", "");
  const auto below = Children(folder);
  for (const std::string& child : *below) {
    Kill(absl::StrCat(folder, "/", child));
  }
}

void FakeGroupFiles::AddFiles(const std::string& folder,
                              const std::string& controller) {
  for (const auto& [name, text] : FilesOf(controller)) {
    const std::string file = absl::StrCat(folder, "/", name);
    if (!Exists(file)) Put(file, text);
  }
}

void FakeGroupFiles::RemoveFiles(const std::string& folder,
                                 const std::string& controller) {
  for (const auto& [name, text] : FilesOf(controller)) {
    unlink(absl::StrCat(folder, "/", name).c_str());
  }
}

absl::Status FakeGroupFiles::MakeGroup(const std::string& folder) {
  absl::Status status = Change(folder);
  if (!status.ok()) return status;
  if (Exists(folder)) return absl::ErrnoToStatus(EEXIST, folder);
  std::filesystem::create_directory(folder);
  const std::set<std::string> controllers =
      WordsOf(FolderOf(folder) + "/cgroup.subtree_control");
  Put(folder + "/cgroup.type", "domain");
  Put(folder + "/cgroup.procs", "");
  Put(folder + "/cgroup.kill", "");
  Put(folder + "/cgroup.subtree_control", "");
  Put(folder + "/cgroup.controllers", absl::StrJoin(controllers, " "));
  Put(folder + "/cpu.stat", "usage_usec 0\nsystem_usec 0\n");
  for (const std::string& name : controllers) AddFiles(folder, name);
  return absl::OkStatus();
}

absl::Status FakeGroupFiles::RemoveGroup(const std::string& folder) {
  absl::Status status = Change(folder);
  if (!status.ok()) return status;
  if (!Exists(folder)) return absl::ErrnoToStatus(ENOENT, folder);
  if (!Text(folder + "/cgroup.procs").empty() || !Children(folder)->empty()) {
    return absl::ErrnoToStatus(EBUSY, folder);
  }
  std::filesystem::remove_all(folder);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FakeGroupFiles::Children(
    const std::string& folder) const {
  return KernelGroupFiles().Children(folder);
}

bool FakeGroupFiles::IsMarkedDelegated(const std::string& folder) const {
  return std::count(delegated.begin(), delegated.end(), folder) > 0;
}

}  // namespace distbench::protection
