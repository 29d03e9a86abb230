#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// Whether the sizes form a grid; if not, that was reported.
bool HasSoundSizes(const ServiceSpec& service) {
  return IsRight(service, "x_size") && IsRight(service, "y_size") &&
         IsRight(service, "z_size");
}

void CheckCount(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  if (!service.has_count()) return;
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

// Only the host knows whether it has those nodes and CPUs.
void CheckBinding(const TestValidation& validation, const NumaBinding& binding,
                  const Path& path) {
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
  if (binding.has_instances_per_node() && !binding.spread()) {
    validation.Add(path.Field("instances_per_node"),
                   "needs spread: true; add it");
  }
}

}  // namespace

void ValidateServices(const TestValidation& validation) {
  bool sizes_are_sound = true;
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Path path = validation.Service(i);
    if (!HasSoundSizes(service)) {
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
