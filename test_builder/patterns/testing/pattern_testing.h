// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests of patterns ask of them.

#ifndef TEST_BUILDER_PATTERNS_TESTING_PATTERN_TESTING_H_
#define TEST_BUILDER_PATTERNS_TESTING_PATTERN_TESTING_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {

// A helper for tests of patterns.

// Builds the pattern of that name with the given values, and the defaults of
// all others.
inline absl::StatusOr<Traffic> BuildPattern(absl::string_view name,
                                            const ValueMap& given) {
  const Pattern& pattern = *FindPattern(name);
  const absl::StatusOr<ParameterValues> values = ParameterValues::Resolve(
      Joined(pattern.parameters(), CommonParameters()), given);
  if (!values.ok()) return values.status();
  return BuildTraffic(pattern, *values);
}

// A helper for tests of patterns with activities.

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

#endif  // TEST_BUILDER_PATTERNS_TESTING_PATTERN_TESTING_H_
