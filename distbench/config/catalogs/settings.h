// Settings of drivers, channels and activities: how they are declared, checked
// against their declaration, and completed by its defaults.

#ifndef DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

using SettingValue = std::variant<int64_t, std::string>;

struct SettingDeclaration {
  std::string name;

  // What it does, for people: sentences, which documentation and help print.
  std::string description;

  // Also tells the type. Of no meaning if the setting is required.
  SettingValue default_value;

  // Of strings; empty: any string.
  std::vector<std::string> allowed_values = {};

  // Of integers.
  int64_t minimum = 0;
  int64_t maximum = std::numeric_limits<int64_t>::max();

  bool required = false;
};

// What some component understands.
struct SettingsDeclaration {
  std::vector<SettingDeclaration> settings;

  // Settings whose name begins with this are passed on as they are; their
  // numbers have 32 bits. Empty: none.
  std::string pass_through_prefix = {};

  // Of these, the largest numbers of those for which 32 bits are too many, by
  // name.
  std::map<std::string, int64_t> pass_through_maxima = {};
};

using NamedSettings = google::protobuf::RepeatedPtrField<NamedSetting>;

// Adds a problem for each setting that is unknown, repeated, of the wrong kind
// or has a value that is not allowed, and for each that is required and
// missing. `owner` is who takes the settings, such as `driver "grpc"`.
void ValidateSettings(const Path& path, const NamedSettings& settings,
                      const SettingsDeclaration& declaration,
                      const std::string& owner, Problems& problems);

// The settings, and the defaults of those that are missing. Requires that
// ValidateSettings() finds no problem.
std::map<std::string, SettingValue> ResolveSettings(
    const NamedSettings& settings, const SettingsDeclaration& declaration);

// The string that a setting has, or else its default.
std::string StringSetting(const NamedSettings& settings,
                          const SettingsDeclaration& declaration,
                          const std::string& name);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_CATALOGS_SETTINGS_H_
