// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/topology.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"

namespace distbench::numa {
namespace {

// The N of the entries of a folder that are called PREFIX and N.
std::set<int> NumbersIn(const std::string& folder, absl::string_view prefix) {
  std::set<int> numbers;
  for (absl::string_view name : base::NamesIn(folder)) {
    int number = 0;
    if (absl::ConsumePrefix(&name, prefix) && absl::SimpleAtoi(name, &number) &&
        name == absl::StrCat(number)) {
      numbers.insert(number);
    }
  }
  return numbers;
}

// Reads lines such as "Node 0 MemTotal:  8028456 kB". Returns 0 if there is no
// such field.
int64_t NodeMemoryBytes(const std::string& node, absl::string_view field) {
  std::ifstream file(node + "/meminfo");
  const std::string wanted = absl::StrCat(field, ":");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word, number, name;
    int64_t kib = 0;
    if (words >> word >> number >> name >> kib && name == wanted) {
      return kib * kBytesPerKib;
    }
  }
  return 0;
}

void AddNodes(const std::string& root, HostTopology& topology) {
  const std::string folder = root + "/sys/devices/system/node";
  for (const int id : NumbersIn(folder, "node")) {
    const std::string path = absl::StrCat(folder, "/node", id);
    NumaNode& node = *topology.add_numa_nodes();
    node.set_id(id);
    node.set_cpus(base::FirstLine(path + "/cpulist"));
    node.set_memory_bytes(NodeMemoryBytes(path, "MemTotal"));
    node.set_free_memory_bytes(NodeMemoryBytes(path, "MemFree"));
    std::istringstream distances(base::FirstLine(path + "/distance"));
    for (int distance; distances >> distance;) node.add_distances(distance);
  }
}

// Parses sizes such as "32K" and "28M"; returns 0 for other texts.
int64_t ParseSize(absl::string_view text) {
  int64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) unit = int64_t{1} << 10;
  if (absl::ConsumeSuffix(&text, "M")) unit = int64_t{1} << 20;
  int64_t size = 0;
  return absl::SimpleAtoi(text, &size) ? size * unit : 0;
}

// Such as "L1d" and "L2"; empty if the level is not known.
std::string CacheName(const std::string& cache) {
  const std::string level = base::FirstLine(cache + "/level");
  if (level.empty()) return "";
  const std::string type = base::FirstLine(cache + "/type");
  return absl::StrCat("L", level,
                      type == "Data"          ? "d"
                      : type == "Instruction" ? "i"
                                              : "");
}

// Adds the caches of a CPU, except those in `known` (by name and CPUs), which
// other CPUs share.
void AddCaches(const std::string& cpu, std::set<std::string>& known,
               HostTopology& topology) {
  for (const int index : NumbersIn(cpu + "/cache", "index")) {
    const std::string path = absl::StrCat(cpu, "/cache/index", index);
    CpuCache cache;
    cache.set_name(CacheName(path));
    cache.set_cpus(base::FirstLine(path + "/shared_cpu_list"));
    cache.set_size_bytes(ParseSize(base::FirstLine(path + "/size")));
    if (cache.name().empty() || cache.cpus().empty()) continue;
    if (!known.insert(absl::StrCat(cache.name(), " ", cache.cpus())).second) {
      continue;
    }
    *topology.add_caches() = std::move(cache);
  }
}

void AddCores(const std::string& root, HostTopology& topology) {
  const std::string folder = root + "/sys/devices/system/cpu";
  std::set<std::string> caches;
  std::set<std::string> cores;
  for (const int id : NumbersIn(folder, "cpu")) {
    const std::string cpu = absl::StrCat(folder, "/cpu", id);
    AddCaches(cpu, caches, topology);
    const std::string siblings =
        base::FirstLine(cpu + "/topology/thread_siblings_list");
    if (IndicesOf(siblings).size() > 1 && cores.insert(siblings).second) {
      topology.add_smt_siblings(siblings);
    }
  }
}

// Adds the CPUs and nodes that the process's cpuset and affinity allow.
void AddAllowed(const std::string& root, HostTopology& topology) {
  const std::string status = base::ProcFolder(root, 0) + "/status";
  std::string cpus = base::ReadTextOf(status, "Cpus_allowed_list");
  if (!cpus.empty()) topology.set_allowed_cpus(std::move(cpus));
  std::string nodes = base::ReadTextOf(status, "Mems_allowed_list");
  if (!nodes.empty()) topology.set_allowed_memory_nodes(std::move(nodes));
}

}  // namespace

HostTopology ReadHostTopology(const std::string& root) {
  HostTopology topology;
  AddNodes(root, topology);
  AddCores(root, topology);
  AddAllowed(root, topology);
  return topology;
}

const NumaNode* FindNumaNode(const HostTopology& topology, int id) {
  for (const NumaNode& node : topology.numa_nodes()) {
    if (node.id() == id) return &node;
  }
  return nullptr;
}

base::IndexSet NumaNodeIds(const HostTopology& topology) {
  base::IndexSet ids;
  for (const NumaNode& node : topology.numa_nodes()) ids.insert(node.id());
  return ids;
}

base::IndexSet IndicesOf(const std::string& list) {
  return base::ParseIndexList(list).value_or(base::IndexSet{});
}

base::IndexSet NodesOfCpus(const HostTopology& topology,
                           const base::IndexSet& cpus) {
  base::IndexSet nodes;
  for (const NumaNode& node : topology.numa_nodes()) {
    if (!base::Intersection(IndicesOf(node.cpus()), cpus).empty()) {
      nodes.insert(node.id());
    }
  }
  return nodes;
}

base::IndexSet CpusOfNodes(const HostTopology& topology,
                           const base::IndexSet& nodes) {
  base::IndexSet cpus;
  for (const NumaNode& node : topology.numa_nodes()) {
    if (nodes.contains(node.id())) cpus.merge(IndicesOf(node.cpus()));
  }
  return cpus;
}

std::string DescribeTopology(const HostTopology& topology) {
  std::vector<std::string> parts;
  for (const NumaNode& node : topology.numa_nodes()) {
    parts.push_back(absl::StrFormat(
        "node %d: %s, %s", node.id(),
        node.cpus().empty() ? "no CPUs" : "CPUs " + node.cpus(),
        node.memory_bytes() == 0
            ? "no memory"
            : absl::StrFormat("%.1f GiB",
                              static_cast<double>(node.memory_bytes()) /
                                  (int64_t{1} << 30))));
  }
  if (!topology.allowed_cpus().empty()) {
    const std::string& nodes = topology.allowed_memory_nodes();
    const bool is_one = absl::c_all_of(nodes, absl::ascii_isdigit);
    parts.push_back(absl::StrCat("may use CPUs ", topology.allowed_cpus(),
                                 " and the memory of ",
                                 is_one ? "node " : "nodes ", nodes));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace distbench::numa
