// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Settings of drivers, channels and activities: how they are declared, how they
// are checked against their declarations, and how defaults are filled in.

#ifndef DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/problems/problem.h"
#include "google/protobuf/descriptor.h"
#include "proto/traffic_config.pb.h"

namespace distbench::catalog {
class SettingOptions;
}  // namespace distbench::catalog

namespace distbench::config {

struct SettingDeclaration {
  std::string name;

  // What the setting does, in full sentences. Documentation and help print it.
  std::string description;

  // Also determines the type. The value is unused if the setting is required.
  SettingValue default_value;

  // For strings. Empty: any string is allowed.
  std::vector<std::string> allowed_values = {};

  // For integers.
  int64_t minimum = 0;
  int64_t maximum = std::numeric_limits<int64_t>::max();

  bool required = false;

  // Unix sockets do not have it.
  bool needs_network = false;

  // Further rules, also on what goes with other settings
  // (proto/catalogs.proto); null: none.
  const catalog::SettingOptions* options = nullptr;
};

// The settings that the fields of a type declare (proto/catalogs.proto).
std::vector<SettingDeclaration> SettingsOf(
    const google::protobuf::Descriptor& type);

// The settings that a driver, channel or activity accepts.
struct SettingsDeclaration {
  std::vector<SettingDeclaration> settings;

  // Settings whose names begin with this prefix are passed through. Their
  // numbers must fit in 32 bits. Empty: none.
  std::string pass_through_prefix = {};

  // Lower maxima for some of the passed-through numbers, by name.
  std::map<std::string, int64_t> pass_through_maxima = {};

  // Settings that others have, by name: why these do not. The catalog of
  // drivers adds which ones do.
  std::map<std::string, std::string> refused = {};
};

// Returns null if there is no such setting.
const SettingDeclaration* FindSetting(const SettingsDeclaration& declaration,
                                      absl::string_view name);

using NamedSettings = google::protobuf::RepeatedPtrField<NamedSetting>;

// Adds a problem for each setting that is unknown, repeated, of the wrong type
// or out of range, and for each required setting that is missing; or, if there
// are none, for each that does not go with others. `owner` describes who
// accepts the settings, for example `driver "grpc"`. Returns whether each
// setting is right by itself, so that further rules can be checked.
bool ValidateSettings(const Path& path, const NamedSettings& settings,
                      const SettingsDeclaration& declaration,
                      const std::string& owner, Problems& problems);

// Returns the settings that are declared, with defaults for the missing ones.
// Requires that ValidateSettings() is true; settings that are not declared are
// for other drivers of the same options.
std::map<std::string, SettingValue> ResolveSettings(
    const NamedSettings& settings, const SettingsDeclaration& declaration);

// The value of a string setting, or its default.
std::string StringSetting(const NamedSettings& settings,
                          const SettingsDeclaration& declaration,
                          const std::string& name);

// The settings of one driver, channel or activity, for the check of rules that
// involve more than one of them. Requires that ValidateSettings() is true. It
// keeps references to what it is made of.
class CheckedSettings {
 public:
  CheckedSettings(const Path& path, const NamedSettings& given,
                  const SettingsDeclaration& declaration, Problems& problems)
      : path_(path),
        given_(given),
        all_(ResolveSettings(given, declaration)),
        problems_(problems) {}

  // A setting of that type, or its default.
  std::string Text(const std::string& name) const;
  int64_t Number(const std::string& name) const;

  // Whether the setting is there, so that it is not the default that counts.
  bool IsGiven(absl::string_view name) const;

  // Adds a problem of that setting.
  template <typename... Parts>
  void Add(const std::string& name, const Parts&... message) const {
    problems_.Add(path_.At(name), message...);
  }

 private:
  const Path& path_;
  const NamedSettings& given_;
  const std::map<std::string, SettingValue> all_;
  Problems& problems_;
};

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_
