#include "distbench/config/validate/warn_controls.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/control_amounts.h"

namespace distbench::config {
namespace {

// 0 if it is not a share.
double PercentOf(const std::string& text) {
  const auto amount = ParseMemoryAmount(text);
  const bool is_share =
      amount.ok() && amount->kind == ControlAmount::Kind::kPercentOfHost;
  return is_share ? amount->value : 0;
}

void WarnOfMuchMemory(const ControlSet& controls, const Path& path,
                      Problems& warnings) {
  double percent = 0;
  for (const ControlGroup& group : controls.groups()) {
    percent +=
        std::max(PercentOf(group.memory_min()), PercentOf(group.memory_low()));
  }
  if (percent <= 100) return;
  warnings.Add(path.Field("groups"),
               absl::StrCat("memory_min and memory_low protect ", percent,
                            "% of a host's memory, if one has instances of "
                            "all groups; the kernel then protects each group "
                            "in part. Lower them"));
}

void WarnOfWeights(const ControlSet& controls, const Path& path,
                   Problems& warnings) {
  const bool has_io_cost = absl::c_any_of(
      controls.io_cost(),
      [](const IoCostSettings& settings) { return settings.enable(); });
  if (has_io_cost) return;
  for (int i = 0; i < controls.groups_size(); ++i) {
    if (!controls.groups(i).has_io_weight()) continue;
    warnings.Add(path.Field("groups").At(i).Field("io_weight"),
                 "is respected only by io.cost and the scheduler bfq; enable "
                 "io_cost for the device, or see to it that its host does");
    return;
  }
}

bool IsFor(const ControlGroup& group, const std::string& service) {
  return absl::c_any_of(group.services(), [&](const std::string& glob) {
    return GlobMatches(glob, service);
  });
}

void WarnOfBindings(const DistributedSystemDescription& test, const Path& path,
                    Problems& warnings) {
  for (const ServiceSpec& service : test.services()) {
    if (!service.numa_binding().has_cpus()) continue;
    const auto bound = base::ParseIndexList(service.numa_binding().cpus());
    for (const ControlGroup& group : test.controls().groups()) {
      if (!group.has_cpuset_cpus() || !IsFor(group, service.name())) continue;
      const auto allowed = base::ParseIndexList(group.cpuset_cpus());
      if (!bound.ok() || !allowed.ok()) continue;
      const base::IndexSet outside = base::Without(*bound, *allowed);
      if (outside.empty()) continue;
      warnings.Add(
          path.Field("services").At(service.name()).Field("numa_binding"),
          absl::StrCat("has CPUs ", base::FormatIndexList(outside),
                       ", which cpuset_cpus of its control group leaves out; "
                       "make them agree"));
    }
  }
}

}  // namespace

void WarnOfControls(const DistributedSystemDescription& test, const Path& path,
                    Problems& warnings) {
  if (!test.has_controls()) return;
  const Path place = path.Field("controls");
  WarnOfMuchMemory(test.controls(), place, warnings);
  WarnOfWeights(test.controls(), place, warnings);
  WarnOfBindings(test, path, warnings);
}

}  // namespace distbench::config
