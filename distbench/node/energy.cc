#include "distbench/node/energy.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"

namespace distbench::node {
namespace {

// Zones are called "intel-rapl:0", and parts of zones "intel-rapl:0:1". Zones
// of the other interface to the same counters, "intel-rapl-mmio:0", would count
// them again.
bool IsZone(const std::string& name) {
  return absl::StartsWith(name, "intel-rapl:");
}

// The names of the zones that contain this one, and its own.
std::string DomainOf(const std::string& folder, const std::string& zone) {
  const std::string name = base::FirstLine(absl::StrCat(folder, zone, "/name"));
  const size_t end_of_parent = zone.rfind(':');
  const std::string parent = zone.substr(0, end_of_parent);
  return IsZone(parent) ? absl::StrCat(DomainOf(folder, parent), "/", name)
                        : name;
}

}  // namespace

absl::StatusOr<EnergyCounters> ReadEnergy(const std::string& root) {
  const std::string folder = root + "/sys/class/powercap/";
  EnergyCounters counters;
  bool has_zones = false;
  for (const std::string& zone : base::NamesIn(folder)) {
    if (!IsZone(zone)) continue;
    has_zones = true;
    const auto value_uj =
        base::ReadNumber(absl::StrCat(folder, zone, "/energy_uj"));
    const auto range_uj =
        base::ReadNumber(absl::StrCat(folder, zone, "/max_energy_range_uj"));
    if (!value_uj || !range_uj) continue;
    counters[DomainOf(folder, zone)] = {*value_uj, *range_uj};
  }
  if (!has_zones) {
    return absl::NotFoundError(
        "the host has no counters of energy in /sys/class/powercap: the CPU, "
        "the kernel or the virtual machine lacks them");
  }
  if (counters.empty()) {
    return absl::PermissionDeniedError(
        "the counters of energy in /sys/class/powercap cannot be read; run the "
        "node manager as root, or make energy_uj readable");
  }
  return counters;
}

std::map<std::string, int64_t> EnergyBetween(const EnergyCounters& start,
                                             const EnergyCounters& end) {
  std::map<std::string, int64_t> used_uj;
  for (const auto& [domain, later] : end) {
    const auto before = start.find(domain);
    if (before == start.end()) continue;
    int64_t difference_uj = later.value_uj - before->second.value_uj;
    if (difference_uj < 0) difference_uj += later.range_uj;
    if (difference_uj >= 0) used_uj[domain] = difference_uj;
  }
  return used_uj;
}

}  // namespace distbench::node
