#include "distbench/products/search/cpu_slices.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::search {
namespace {

// The CPUs of each core, ordered by the lowest of them.
std::vector<base::IndexSet> CoresOf(const HostTopology& topology,
                                    const base::IndexSet& allowed) {
  std::set<base::IndexSet> cores;
  base::IndexSet alone = allowed;
  for (const std::string& siblings : topology.smt_siblings()) {
    const absl::StatusOr<base::IndexSet> cpus = base::ParseIndexList(siblings);
    if (!cpus.ok()) continue;  // damaged: its CPUs count as cores
    const base::IndexSet usable = base::Intersection(*cpus, alone);
    if (usable.empty()) continue;
    cores.insert(usable);
    alone = base::Without(alone, usable);
  }
  for (const int cpu : alone) cores.insert({cpu});
  return {cores.begin(), cores.end()};
}

absl::StatusOr<std::vector<std::string>> Slice(
    const std::vector<base::IndexSet>& cores, int count) {
  const size_t slice_count = std::max(count, 1);
  if (cores.size() < slice_count) {
    return absl::FailedPreconditionError(
        absl::StrCat("the host has ", cores.size(), " cores for ", count,
                     " instances; start fewer, or without --cpu_slices"));
  }
  std::vector<std::string> slices;
  for (size_t i = 0; i < slice_count; ++i) {
    base::IndexSet cpus;
    const size_t end = (i + 1) * cores.size() / slice_count;
    for (size_t core = i * cores.size() / slice_count; core < end; ++core) {
      cpus.insert(cores[core].begin(), cores[core].end());
    }
    slices.push_back(base::FormatIndexList(cpus));
  }
  return slices;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SliceCpus(const HostTopology& topology,
                                                   int count) {
  const absl::StatusOr<base::IndexSet> allowed =
      base::ParseIndexList(topology.allowed_cpus());
  if (!allowed.ok()) return allowed.status();
  return Slice(CoresOf(topology, *allowed), count);
}

bool IsOneHost(const GetStatusResponse& status) {
  std::set<std::string> hosts;
  for (const NodeStatus& node : status.nodes()) {
    hosts.insert(node.registration().hostname());
  }
  return hosts.size() == 1;
}

absl::StatusOr<std::vector<std::string>> SliceHost(
    const GetStatusResponse& status, int count) {
  if (!IsOneHost(status)) {
    return absl::FailedPreconditionError(
        "instances can have slices of the CPUs only if all nodes are on one "
        "host; leave out --cpu_slices, or start all nodes on one host");
  }
  HostTopology topology = status.nodes(0).registration().topology();
  for (const NodeStatus& node : status.nodes()) {
    const auto usable =
        base::ParseIndexList(node.registration().topology().allowed_cpus());
    const auto common = base::ParseIndexList(topology.allowed_cpus());
    if (!usable.ok()) return usable.status();
    if (!common.ok()) return common.status();
    topology.set_allowed_cpus(
        base::FormatIndexList(base::Intersection(*common, *usable)));
  }
  return SliceCpus(topology, count);
}

absl::Status BindCopies(const std::vector<std::string>& slices,
                        DistributedSystemDescription& test) {
  if (slices.empty()) return absl::OkStatus();
  for (ServiceSpec& service : *test.mutable_services()) {
    if (config::IsOutside(service)) continue;
    if (service.has_numa_binding()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "services[\"", service.name(),
          "\"].numa_binding: excludes slices of the CPUs for instances; remove "
          "it, or give a number of --instances and no --cpu_slices"));
    }
    for (size_t i = 0; i < slices.size(); ++i) {
      const bool is_of_copy =
          slices.size() == 1 ||
          absl::StartsWith(service.name(), absl::StrCat(i + 1, "."));
      if (is_of_copy) service.mutable_numa_binding()->set_cpus(slices[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::search
