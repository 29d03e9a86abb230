// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The catalog of activities: which ones configs may name, and their settings.
// Validation, documentation and help texts are generated from it. They are data
// (proto/catalogs.proto, and a catalog.proto of each product that has some).
//
//   const ActivityDeclaration* activity = FindActivity("Compress");
//   if (activity == nullptr) ...  // unknown name
//
// A product adds an activity with activity::ActivityPlugin
// (activity/registry.h).

#ifndef DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_
#define DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/catalogs/settings.h"
#include "google/protobuf/descriptor.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The setting of an ActivityConfig that names the activity.
inline constexpr char kActivityFunctionSetting[] = "activity_func";

// Files are read and written in pages: the page size of most kernels, and a
// multiple of the block sizes of devices.
inline constexpr int64_t kFilePageBytes = 4096;

struct ActivityDeclaration {
  std::string name;

  // Describes one iteration, in full sentences for users.
  std::string description = {};

  // All settings except activity_func.
  SettingsDeclaration settings = {};

  // The metrics that appear in the result in addition to "iteration_count".
  std::vector<std::string> metrics = {};

  // Scaling all of these settings by a factor scales the CPU time of an
  // iteration by about the same factor.
  std::vector<std::string> sized_by = {};

  // The activity only waits. It takes a slot in its pool, but no thread.
  bool waits = false;

  // Adds a problem for each rule that these break, beyond the options of the
  // settings. Null if there are no such rules.
  void (*check)(const CheckedSettings& settings) = nullptr;

  // Of products: adds what is data, when the catalog is made. Data is not there
  // yet while the declarations of products are initialised.
  void (*complete)(ActivityDeclaration& activity) = nullptr;
};

// Replaces all but the name and the check by what the type says, a message of a
// catalog.proto with the option `activity`.
void CompleteByData(const google::protobuf::Descriptor& type,
                    ActivityDeclaration& activity);

// The same as ActivityDeclaration::complete.
template <typename Message>
void CompleteBy(ActivityDeclaration& activity) {
  CompleteByData(*Message::descriptor(), activity);
}

// Names of metrics.
inline constexpr char kIterationCountMetric[] = "iteration_count";
inline constexpr char kInputBytesMetric[] = "input_bytes";
inline constexpr char kOutputBytesMetric[] = "output_bytes";
inline constexpr char kOperationsMetric[] = "operations";
inline constexpr char kFailedOperationsMetric[] = "failed_operations";

// All activities, in the order in which the documentation lists them, and after
// them those of products (base::Plugins<ActivityDeclaration>).
absl::Span<const ActivityDeclaration> ActivityCatalog();

// Returns null if there is no such activity.
const ActivityDeclaration* FindActivity(absl::string_view name);

std::vector<std::string> ActivityNames();

// The name of the activity that a config selects; empty if it selects none.
std::string ActivityFunctionOf(const ActivityConfig& config);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_ACTIVITY_CATALOG_H_
