#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/validate/validators.h"

namespace distbench {
namespace {

constexpr int64_t kMaxInstancesPerNode = kMaxWorkers;

void CheckList(const TestValidation& validation, const Path& path,
               bool is_present, const std::string& list) {
  if (!is_present) return;
  const absl::StatusOr<IndexSet> indices = ParseIndexList(list);
  if (!indices.ok()) {
    validation.Add(path, std::string(indices.status().message()));
  } else if (indices->empty()) {
    validation.Add(path, "is an empty list; leave it out, or write one such as "
                         "0-3,8");
  }
}

// Only the host knows whether it has those nodes and CPUs.
void CheckBinding(const TestValidation& validation, const NumaBinding& binding,
                  const Path& path) {
  CheckList(validation, path.Field("nodes"), binding.has_nodes(),
            binding.nodes());
  CheckList(validation, path.Field("cpus"), binding.has_cpus(),
            binding.cpus());
  CheckList(validation, path.Field("memory_nodes"), binding.has_memory_nodes(),
            binding.memory_nodes());
  if (binding.has_cpus() && binding.has_nodes()) {
    validation.Add(path.Field("cpus"),
                   "excludes nodes; remove one of them (memory_nodes says "
                   "whose memory is used)");
  }
  if (binding.has_cpus() && binding.spread()) {
    validation.Add(path.Field("spread"),
                   "is about nodes and excludes cpus; remove one of them");
  }
  if (binding.has_memory_nodes() &&
      binding.memory_policy() == NumaBinding::LOCAL &&
      binding.has_memory_policy()) {
    validation.Add(path.Field("memory_nodes"),
                   "has no effect with memory_policy LOCAL, which uses the "
                   "node of the CPU; remove it, or choose another policy");
  }
  if (!binding.has_instances_per_node()) return;
  if (!binding.spread()) {
    validation.Add(path.Field("instances_per_node"),
                   "needs spread: true; add it");
  }
  validation.CheckRange(path.Field("instances_per_node"),
                        binding.instances_per_node(), 1, kMaxInstancesPerNode);
}

}  // namespace

void ValidateBindings(const TestValidation& validation) {
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    if (!service.has_numa_binding()) continue;
    CheckBinding(validation, service.numa_binding(),
                 validation.Service(i).Field("numa_binding"));
  }
}

}  // namespace distbench
