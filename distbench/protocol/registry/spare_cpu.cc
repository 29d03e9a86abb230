#include "distbench/protocol/registry/spare_cpu.h"

#include <cstdint>
#include <map>
#include <string>

namespace distbench {
namespace {

constexpr char kSpinSetting[] = "spin_us";

using Settings = std::map<std::string, DriverOptions::Value>;

// Removes the setting if it is kSpinByCpus. Returns whether it was.
bool DropIfByCpus(Settings& settings) {
  const auto found = settings.find(kSpinSetting);
  if (found == settings.end() ||
      found->second != DriverOptions::Value(kSpinByCpus)) {
    return false;
  }
  settings.erase(found);
  return true;
}

}  // namespace

DriverOptions WithSpinning(DriverOptions options, bool has_spare_cpu) {
  const bool client_by_cpus = DropIfByCpus(options.client_settings);
  const bool server_by_cpus = DropIfByCpus(options.server_settings);
  const bool is_said = options.client_settings.count(kSpinSetting) > 0 ||
                       options.server_settings.count(kSpinSetting) > 0;
  if ((client_by_cpus || server_by_cpus) && !is_said && has_spare_cpu) {
    options.client_settings[kSpinSetting] = int64_t{kSpareCpuSpinUs};
  }
  return options;
}

}  // namespace distbench
