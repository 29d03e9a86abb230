// A helper for tests of patterns with activities.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_ACTIVITY_SETTINGS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_ACTIVITY_SETTINGS_H_

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// The settings by name, with numbers as text.
inline std::map<std::string, std::string> SettingsOf(
    const ActivityConfig& activity) {
  std::map<std::string, std::string> settings;
  for (const NamedSetting& setting : activity.activity_settings()) {
    settings[setting.name()] = setting.has_int64_value()
                                   ? absl::StrCat(setting.int64_value())
                                   : setting.string_value();
  }
  return settings;
}

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TESTING_ACTIVITY_SETTINGS_H_
