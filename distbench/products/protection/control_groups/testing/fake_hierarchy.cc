#include "distbench/products/protection/control_groups/testing/fake_hierarchy.h"

#include <glog/logging.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

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

}  // namespace distbench::protection
