// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/activity_catalog.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "distbench/base/named.h"
#include "distbench/base/plugins.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "proto/catalogs.pb.h"

namespace distbench::config {
namespace {

// ---- Rules that the options of settings cannot tell -------------------------

void CheckCompress(const CheckedSettings& settings) {
  const std::string algorithm = settings.Text("algorithm");
  const int64_t level = settings.Number("level");
  if (algorithm == "snappy" && level != 0) {
    settings.Add("level",
                 "has no effect, because snappy has no levels; remove it");
  }
  if (algorithm == "zlib" && level > 9) {
    settings.Add("level", level, " is out of range; zlib's levels are 1 to 9");
  }
}

void CheckFeatureExtract(const CheckedSettings& settings) {
  const auto counts = FindActivity("FeatureExtract")->sized_by;
  if (absl::c_any_of(counts, [&](const std::string& name) {
        return settings.Number(name) > 0;
      })) {
    return;
  }
  settings.Add(counts.front(),
               "is 0, and so are all other counts; raise at least one of them");
}

void CheckStorage(const CheckedSettings& settings) {
  const bool uses_memory = settings.Number("memory_percent") > 0;
  const bool has_memory = settings.Number("memory_bytes") > 0;
  if (uses_memory == has_memory) return;
  settings.Add(uses_memory ? "memory_bytes" : "memory_percent", "is 0, but ",
               uses_memory ? "memory_percent" : "memory_bytes",
               " is not; set both, or none");
}

using Check = void (*)(const CheckedSettings& settings);

// Null if there is none.
Check CheckOf(const std::string& activity) {
  if (activity == "Compress" || activity == "Decompress") return CheckCompress;
  if (activity == "FeatureExtract") return CheckFeatureExtract;
  if (activity == "Storage") return CheckStorage;
  return nullptr;
}

// ---- The catalog ------------------------------------------------------------

std::vector<ActivityDeclaration> MakeActivityCatalog() {
  const auto& file = *catalog::ActivityOptions::descriptor()->file();
  std::vector<ActivityDeclaration> activities;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const google::protobuf::Descriptor& type = *file.message_type(i);
    if (!type.options().HasExtension(catalog::activity)) continue;
    ActivityDeclaration& activity = activities.emplace_back();
    activity.name = type.name();
    activity.check = CheckOf(type.name());
    CompleteByData(type, activity);
  }
  for (const auto& [name, activity] :
       base::Plugins<ActivityDeclaration>::All()) {
    activities.push_back(*activity);
    if (activity->complete != nullptr) activity->complete(activities.back());
  }
  return activities;
}

}  // namespace

void CompleteByData(const google::protobuf::Descriptor& type,
                    ActivityDeclaration& activity) {
  CHECK_EQ(activity.name, type.name());
  const catalog::ActivityOptions& options =
      type.options().GetExtension(catalog::activity);
  activity.description = options.about();
  activity.settings = {.settings = SettingsOf(type)};
  activity.metrics = {options.metrics().begin(), options.metrics().end()};
  activity.sized_by = {options.sized_by().begin(), options.sized_by().end()};
  activity.waits = options.waits();
}

absl::Span<const ActivityDeclaration> ActivityCatalog() {
  static const auto* const catalog =
      new std::vector<ActivityDeclaration>(MakeActivityCatalog());
  return *catalog;
}

const ActivityDeclaration* FindActivity(absl::string_view name) {
  return base::FindNamed(ActivityCatalog(), name);
}

std::vector<std::string> ActivityNames() {
  return base::NamesOf(ActivityCatalog());
}

std::string ActivityFunctionOf(const ActivityConfig& config) {
  for (const NamedSetting& setting : config.activity_settings()) {
    if (setting.name() == kActivityFunctionSetting) {
      return setting.string_value();
    }
  }
  return "";
}

}  // namespace distbench::config
