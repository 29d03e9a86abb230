// Settings that many activities have, and short forms to declare others.

#ifndef DISTBENCH_CONFIG_CATALOGS_ACTIVITY_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_ACTIVITY_SETTINGS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "distbench/config/catalogs/settings.h"

namespace distbench::config {

inline constexpr int64_t kMaxParallelism = 1024;

inline SettingDeclaration Number(const std::string& name,
                                 const std::string& description,
                                 int64_t default_value, int64_t minimum,
                                 int64_t maximum) {
  return {.name = name,
          .description = description,
          .default_value = default_value,
          .minimum = minimum,
          .maximum = maximum};
}

// The first value is the default.
inline SettingDeclaration Choice(const std::string& name,
                                 const std::string& description,
                                 const std::vector<std::string>& values) {
  return {.name = name,
          .description = description,
          .default_value = values.front(),
          .allowed_values = values};
}

inline SettingDeclaration Seed() {
  return Number("seed", "Seed of the data and of the work on it.", 1, 0,
                std::numeric_limits<int64_t>::max());
}

inline SettingDeclaration Parallelism() {
  return Number("parallelism",
                "Number of parts of an iteration that threads of the pool may "
                "do concurrently.",
                1, 1, kMaxParallelism);
}

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_ACTIVITY_SETTINGS_H_
