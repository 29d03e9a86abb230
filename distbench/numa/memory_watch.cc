#include "distbench/numa/memory_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

// The amount of memory that may be elsewhere: 1 MiB and 1 %.
constexpr int64_t kSmallBytes = int64_t{1} << 20;
constexpr int64_t kSmallDivisor = 100;

constexpr int64_t kBytesPerKib = 1024;

}  // namespace

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

std::vector<std::string> MemoryWatch::Violations(const IndexSet& nodes) const {
  int64_t all = 0;
  int64_t outside = 0;
  IndexSet strange;
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
                       FormatIndexList(strange), ", outside of ",
                       FormatIndexList(nodes))};
}

}  // namespace distbench
