#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// Returns whether the sizes form a grid.
bool CheckSizes(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  bool good = true;
  const auto check_size = [&](bool present, const char* field, int64_t size) {
    if (!present || (size >= 1 && size <= kMaxInstances)) return;
    validation.CheckRange(path.Field(field), size, 1, kMaxInstances);
    good = false;
  };
  check_size(service.has_x_size(), "x_size", service.x_size());
  check_size(service.has_y_size(), "y_size", service.y_size());
  check_size(service.has_z_size(), "z_size", service.z_size());
  if (service.has_y_size() && !service.has_x_size()) {
    validation.Add(path.Field("y_size"), "needs x_size; add it");
    good = false;
  }
  if (service.has_z_size() && !service.has_y_size()) {
    validation.Add(path.Field("z_size"), "needs y_size; add it");
    good = false;
  }
  return good;
}

void CheckCount(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  if (!service.has_count()) {
    // Canonical services lack a count only if it cannot be derived.
    if (!service.has_x_size()) {
      validation.Add(path.Field("count"),
                     "is missing; give the number of instances");
    }
    return;
  }
  if (service.count() < 1) {
    validation.CheckRange(path.Field("count"), service.count(), 1,
                          kMaxInstances);
    return;
  }
  const int64_t product = GridOf(service).Count();
  if (service.count() == product) return;
  validation.Add(path.Field("count"),
                 absl::StrCat(service.count(), " is not ", product,
                              ", the product of the sizes; leave it out or "
                              "make them agree"));
}

constexpr int64_t kMaxInstancesPerNode = kMaxWorkers;

void CheckList(const TestValidation& validation, const Path& path,
               bool is_present, const std::string& list) {
  if (!is_present) return;
  const absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(list);
  if (!indices.ok()) {
    validation.Add(path, std::string(indices.status().message()));
  } else if (indices->empty()) {
    validation.Add(path,
                   "is an empty list; leave it out, or write one such as "
                   "0-3,8");
  }
}

// Only the host knows whether it has those nodes and CPUs.
void CheckBinding(const TestValidation& validation, const NumaBinding& binding,
                  const Path& path) {
  CheckList(validation, path.Field("nodes"), binding.has_nodes(),
            binding.nodes());
  CheckList(validation, path.Field("cpus"), binding.has_cpus(), binding.cpus());
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

void ValidateServices(const TestValidation& validation) {
  bool sizes_are_sound = true;
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Path path = validation.Service(i);
    if (!CheckSizes(validation, service, path)) {
      sizes_are_sound = false;
      continue;
    }
    CheckCount(validation, service, path);
  }
  if (sizes_are_sound && validation.InstanceCount() > kMaxInstances) {
    validation.Add(validation.path().Field("services"),
                   absl::StrCat("there are more than ", kMaxInstances,
                                " instances in all; reduce counts and sizes"));
  }
}

void ValidateBindings(const TestValidation& validation) {
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    if (!service.has_numa_binding()) continue;
    CheckBinding(validation, service.numa_binding(),
                 validation.Service(i).Field("numa_binding"));
  }
}

}  // namespace distbench::config
