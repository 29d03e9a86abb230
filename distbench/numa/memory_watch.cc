// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/numa/memory_watch.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/numa/topology.h"

namespace distbench::numa {
namespace {

constexpr int64_t kUsualPageKib = 4;

using Get = int64_t (NumaCounters::*)() const;
using Set = void (NumaCounters::*)(int64_t);
struct CounterField {
  const char* name;
  Get get;
  Set set;
};
constexpr CounterField kCounters[] = {
    {"numa_hit", &NumaCounters::hit, &NumaCounters::set_hit},
    {"numa_miss", &NumaCounters::miss, &NumaCounters::set_miss},
    {"numa_foreign", &NumaCounters::foreign, &NumaCounters::set_foreign},
    {"interleave_hit", &NumaCounters::interleave_hit,
     &NumaCounters::set_interleave_hit},
    {"local_node", &NumaCounters::local_node, &NumaCounters::set_local_node},
    {"other_node", &NumaCounters::other_node, &NumaCounters::set_other_node},
};

// Adds a line such as
//
//   7f5c2c000000 default anon=33 dirty=33 N0=30 N1=3 kernelpagesize_kB=4
void AddMapping(const std::string& line, std::map<int, int64_t>& bytes) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  int64_t page_kib = kUsualPageKib;
  std::vector<std::pair<int, int64_t>> pages;
  for (absl::string_view word : words) {
    if (absl::ConsumePrefix(&word, "file=")) return;
    if (absl::ConsumePrefix(&word, "kernelpagesize_kB=")) {
      if (!absl::SimpleAtoi(word, &page_kib)) return;
    } else if (absl::ConsumePrefix(&word, "N")) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      int node = 0;
      int64_t count = 0;
      if (absl::SimpleAtoi(parts.first, &node) &&
          absl::SimpleAtoi(parts.second, &count)) {
        pages.emplace_back(node, count);
      }
    }
  }
  for (const auto& [node, count] : pages) {
    bytes[node] += count * page_kib * kBytesPerKib;
  }
}

NumaCounters ReadCounters(const std::string& path) {
  NumaCounters counters;
  std::ifstream file(path);
  std::string name;
  int64_t value = 0;
  while (file >> name >> value) {
    for (const CounterField& field : kCounters) {
      if (name == field.name) (counters.*field.set)(value);
    }
  }
  return counters;
}

// The amount of memory that may be elsewhere: 1 MiB and 1 %.
constexpr int64_t kSmallBytes = int64_t{1} << 20;
constexpr int64_t kSmallDivisor = 100;

}  // namespace

std::map<int, int64_t> ReadResidentBytesByNode(const std::string& root,
                                               pid_t pid) {
  std::map<int, int64_t> bytes;
  std::ifstream file(base::ProcFolder(root, pid) + "/numa_maps");
  for (std::string line; std::getline(file, line);) AddMapping(line, bytes);
  return bytes;
}

std::map<int, NumaCounters> ReadNumaCounters(const std::string& root) {
  std::map<int, NumaCounters> by_node;
  for (const int id : NumaNodeIds(ReadHostTopology(root))) {
    by_node[id] = ReadCounters(
        absl::StrCat(root, "/sys/devices/system/node/node", id, "/numastat"));
  }
  return by_node;
}

NumaCounters NumaCountersBetween(const NumaCounters& before,
                                 const NumaCounters& after) {
  NumaCounters added;
  for (const CounterField& field : kCounters) {
    (added.*field.set)((after.*field.get)() - (before.*field.get)());
  }
  return added;
}

void MemoryWatch::Finish() {
  resident_ = ReadResidentBytesByNode(root_, pid_);
  counters_.clear();
  for (const auto& [node, counters] : ReadNumaCounters(root_)) {
    counters_[node] = NumaCountersBetween(counters_at_start_[node], counters);
  }
}

void MemoryWatch::Report(BindingProof& proof) const {
  for (const auto& [node, bytes] : resident_) {
    (*proof.mutable_resident_bytes_by_node())[node] = bytes;
  }
  for (const auto& [node, counters] : counters_) {
    (*proof.mutable_numa_counters_by_node())[node] = counters;
  }
}

std::vector<std::string> MemoryWatch::Violations(
    const base::IndexSet& nodes) const {
  int64_t all = 0;
  int64_t outside = 0;
  base::IndexSet strange;
  for (const auto& [node, bytes] : resident_) {
    const auto before = baseline_.find(node);
    const int64_t grown = std::max<int64_t>(
        0, bytes - (before == baseline_.end() ? 0 : before->second));
    all += grown;
    if (nodes.contains(node) || grown == 0) continue;
    outside += grown;
    strange.insert(node);
  }
  if (outside <= std::max(kSmallBytes, all / kSmallDivisor)) return {};
  return {absl::StrCat(outside / kBytesPerKib, " of ", all / kBytesPerKib,
                       " KiB of the process's memory are on NUMA nodes ",
                       base::FormatIndexList(strange), ", outside of ",
                       base::FormatIndexList(nodes))};
}

}  // namespace distbench::numa
