// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/activity_catalog.h"

#include <cstdint>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::Not;

TEST(ActivityCatalog, HasTheActivitiesOfTheLanguage) {
  EXPECT_THAT(
      ActivityNames(),
      ElementsAre("ConsumeCpu", "PolluteDataCache", "PolluteInstructionCache",
                  "SleepFor", "SpinFor", "FeatureExtract", "PageRank",
                  "Compress", "Decompress", "Serialize", "Deserialize",
                  "PointerChase", "Infer", "Wait", "Disk", "Storage",
                  "FeatureQuery"));
  EXPECT_THAT(FindActivity("consumecpu"), IsNull());
}

TEST(ActivityCatalog, EverythingIsDocumentedAndDefaultsAreAllowed) {
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    EXPECT_EQ(FindActivity(activity.name), &activity);
    EXPECT_THAT(activity.description, Not(IsEmpty()));
    std::set<std::string> names;
    for (const SettingDeclaration& setting : activity.settings.settings) {
      EXPECT_TRUE(names.insert(setting.name).second);
      EXPECT_THAT(setting.description, Not(IsEmpty()));
      if (setting.required) continue;
      if (const auto* text = std::get_if<std::string>(&setting.default_value)) {
        // A directory may be any text.
        if (!setting.allowed_values.empty()) {
          EXPECT_THAT(setting.allowed_values, Contains(*text));
        }
        continue;
      }
      const int64_t value = std::get<int64_t>(setting.default_value);
      EXPECT_GE(value, setting.minimum) << setting.name;
      EXPECT_LE(value, setting.maximum) << setting.name;
    }
  }
}

// By calibration.
TEST(ActivityCatalog, EveryActivityThatComputesCanBeSized) {
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    EXPECT_EQ(activity.sized_by.empty(), activity.waits) << activity.name;
  }
}

}  // namespace
}  // namespace distbench::config
