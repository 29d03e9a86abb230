// The energy that the host uses, as its CPUs estimate or measure it (RAPL).

#ifndef DISTBENCH_NODE_ENERGY_H_
#define DISTBENCH_NODE_ENERGY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace distbench::node {

// A counter in microjoules that begins again at 0 after `range_uj`.
struct EnergyCounter {
  int64_t value_uj = 0;
  int64_t range_uj = 0;
};

// By domain: "package-0", and for a part of it "package-0/dram".
using EnergyCounters = std::map<std::string, EnergyCounter>;

// Reads /sys/class/powercap below `root` (empty: the real one). NOT_FOUND if
// the host has no such counters, PERMISSION_DENIED if this process may not read
// them.
absl::StatusOr<EnergyCounters> ReadEnergy(const std::string& root);

// The energy of each domain that both readings have, which must be less than a
// range apart.
std::map<std::string, int64_t> EnergyBetween(const EnergyCounters& start,
                                             const EnergyCounters& end);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_ENERGY_H_
