// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/testing/fake_host.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/index_list.h"
#include "glog/logging.h"

namespace distbench::numa {

FakeHost::FakeHost()
    : root_((std::filesystem::temp_directory_path() / "fake_host_XXXXXX")
                .string()) {
  CHECK(mkdtemp(root_.data()) != nullptr) << root_;
}

FakeHost::~FakeHost() { std::filesystem::remove_all(root_); }

void FakeHost::Write(const std::string& path, const std::string& text) const {
  const std::filesystem::path whole = root_ + path;
  std::filesystem::create_directories(whole.parent_path());
  std::ofstream file(whole);
  file << text;
  CHECK(file.good()) << whole;
}

void FakeHost::AddNodes(const std::vector<FakeNode>& nodes) {
  for (const FakeNode& node : nodes) {
    const std::string path =
        absl::StrCat("/sys/devices/system/node/node", node.id);
    Write(path + "/cpulist", node.cpus + "\n");
    Write(path + "/distance", node.distances + "\n");
    Write(path + "/meminfo",
          absl::StrCat("Node ", node.id, " MemTotal:       ", node.memory_kib,
                       " kB\nNode ", node.id,
                       " MemFree:        ", node.memory_kib / 2, " kB\n"));
  }
}

void FakeHost::AddCore(const std::string& cpus) {
  const base::IndexSet indices = base::ParseIndexList(cpus).value();
  for (const int cpu : indices) {
    Write(absl::StrCat("/sys/devices/system/cpu/cpu", cpu,
                       "/topology/thread_siblings_list"),
          cpus + "\n");
  }
}

void FakeHost::AddCache(const std::string& cpus, int level,
                        const std::string& size, const std::string& type) {
  const int index = type == "Instruction" ? level + 10 : level;
  const base::IndexSet indices = base::ParseIndexList(cpus).value();
  for (const int cpu : indices) {
    const std::string path =
        absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/cache/index", index);
    Write(path + "/level", absl::StrCat(level, "\n"));
    Write(path + "/type", type + "\n");
    Write(path + "/size", size + "\n");
    Write(path + "/shared_cpu_list", cpus + "\n");
  }
}

void FakeHost::Allow(const std::string& cpus, const std::string& memory_nodes) {
  Write("/proc/self/status",
        absl::StrCat("Name:\tdistbench\nCpus_allowed:\tff\n",
                     "Cpus_allowed_list:\t", cpus, "\nMems_allowed_list:\t",
                     memory_nodes, "\n"));
}

void FakeHost::PutThread(const FakeThread& thread) {
  const std::string path = absl::StrCat("/proc/self/task/", thread.id);
  // pid (name) state, fields 4 to 38, the processor, two more.
  std::vector<std::string> fields(35, "0");
  Write(path + "/stat",
        absl::StrCat(thread.id, " (a (b) c) S ", absl::StrJoin(fields, " "),
                     " ", thread.last_cpu, " 0 0\n"));
  Write(path + "/schedstat", absl::StrCat(thread.cpu_ns, " 5 1\n"));
  Write(path + "/status",
        absl::StrCat("Cpus_allowed_list:\t", thread.allowed_cpus,
                     "\nvoluntary_ctxt_switches:\t", thread.voluntary,
                     "\nnonvoluntary_ctxt_switches:\t", thread.involuntary,
                     "\n"));
  if (thread.migrations >= 0) {
    Write(path + "/sched",
          absl::StrCat("x (1, #threads: 1)\nse.nr_migrations     :     ",
                       thread.migrations, "\n"));
  }
}

void FakeHost::RemoveThread(int id) {
  std::filesystem::remove_all(absl::StrCat(root_, "/proc/self/task/", id));
}

void FakeHost::PutNumaMaps(const std::vector<std::string>& lines) {
  Write("/proc/self/numa_maps", absl::StrJoin(lines, "\n") + "\n");
}

void FakeHost::PutNumastat(int node, int64_t hit, int64_t miss) {
  Write(absl::StrCat("/sys/devices/system/node/node", node, "/numastat"),
        absl::StrCat("numa_hit ", hit, "\nnuma_miss ", miss,
                     "\nnuma_foreign 3\ninterleave_hit 4\nlocal_node ", hit,
                     "\nother_node ", miss, "\n"));
}

}  // namespace distbench::numa
