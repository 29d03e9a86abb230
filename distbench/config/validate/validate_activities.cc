// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

void ValidateFunction(const TestValidation& validation, const Path& settings,
                      const ActivityConfig& config) {
  const std::string function = ActivityFunctionOf(config);
  const ActivityDeclaration* const activity = FindActivity(function);
  if (activity == nullptr) {
    validation.Add(
        settings.At(kActivityFunctionSetting),
        absl::StrCat(function.empty() ? "is missing"
                                      : absl::StrCat("no activity is named ",
                                                     Quoted(function)),
                     "; ", ExplainUnknownName(function, ActivityNames())));
    return;
  }
  SettingsDeclaration declaration = activity->settings;
  declaration.settings.push_back({.name = kActivityFunctionSetting,
                                  .description = "Names the activity.",
                                  .default_value = "",
                                  .required = true});
  Problems& problems = validation.problems();
  const bool may_be_checked =
      ValidateSettings(settings, config.activity_settings(), declaration,
                       absl::StrCat("activity ", Quoted(function)), problems);
  if (!may_be_checked || activity->check == nullptr) return;
  activity->check(CheckedSettings(settings, config.activity_settings(),
                                  activity->settings, problems));
}

// By position of the activity pool.
std::vector<bool> PoolsWithThreads(const TestValidation& validation) {
  const NameIndex& pools = validation.names().activity_pools;
  std::vector<bool> has_threads(pools.names().size());
  for (const ActivityConfig& config : validation.test().activity_configs()) {
    const int pool = pools.Find(config.pool_name());
    const auto* activity = FindActivity(ActivityFunctionOf(config));
    if (pool == kNone || activity == nullptr) continue;
    has_threads[pool] = has_threads[pool] || !activity->waits;
  }
  return has_threads;
}

void ValidatePools(const TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  std::set<std::string> used;
  for (const ActivityConfig& config : test.activity_configs()) {
    used.insert(config.pool_name());
  }
  const std::vector<bool> has_threads = PoolsWithThreads(validation);
  int64_t threads = 0;
  for (int i = 0; i < test.activity_pools_size(); ++i) {
    const ActivityPoolSpec& pool = test.activity_pools(i);
    const Path path = validation.Element("activity_pools",
                                         validation.names().activity_pools, i);
    if (!pool.name().empty() && used.count(pool.name()) == 0) {
      validation.Add(path,
                     "has no effect, as no activity runs in it; make it the "
                     "pool_name of an activity_configs entry, or remove it");
    }
    if (has_threads[i]) threads += pool.size();
  }
  const int64_t max_threads = test.overload_limits().max_threads();
  if (threads > 0 && threads > max_threads) {
    validation.Add(validation.path().Field("activity_pools"), "have ", threads,
                   " threads together, but ",
                   "overload_limits.max_threads allows a node ", max_threads,
                   "; make pools smaller, or raise max_threads");
  }
}

}  // namespace

void ValidateActivities(const TestValidation& validation) {
  const TestNames& names = validation.names();
  for (int i = 0; i < validation.test().activity_configs_size(); ++i) {
    const ActivityConfig& config = validation.test().activity_configs(i);
    const Path path =
        validation.Element("activity_configs", names.activities, i);
    ValidateFunction(validation, path.Field("activity_settings"), config);
  }
  ValidatePools(validation);
}

}  // namespace distbench::config
