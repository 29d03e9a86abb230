// The activities that configs may name, and what can be set about each.
// Validation, documentation and help are all made from these declarations.

#ifndef DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_
#define DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/catalogs/settings.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The setting of an ActivityConfig that names the activity.
inline constexpr char kActivityFunctionSetting[] = "activity_func";

struct ActivityDeclaration {
  std::string name;

  // What one iteration does, for people: sentences.
  std::string description;

  // Besides activity_func.
  SettingsDeclaration settings;

  // Metrics in the result, besides "iteration_count".
  std::vector<std::string> metrics = {};

  // Settings to which the CPU time of an iteration is proportional, together
  // and nearly.
  std::vector<std::string> sized_by = {};

  // It does nothing but wait, which takes a place of its pool and no thread.
  bool waits = false;
};

// Metrics.
inline constexpr char kIterationCountMetric[] = "iteration_count";
inline constexpr char kChecksumMetric[] = "checksum";
inline constexpr char kInputBytesMetric[] = "input_bytes";
inline constexpr char kOutputBytesMetric[] = "output_bytes";

// In the order in which documentation lists them.
absl::Span<const ActivityDeclaration> ActivityCatalog();

// Null if there is no such activity.
const ActivityDeclaration* FindActivity(absl::string_view name);

std::vector<std::string> ActivityNames();

// The activity that a config names, or empty.
std::string ActivityFunctionOf(const ActivityConfig& config);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_
