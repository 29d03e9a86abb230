#include "distbench/products/simulation/model/used_driver.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/test_names.h"

namespace distbench::simulation {
namespace {

constexpr char kSpinSetting[] = "spin_us";

int64_t SpinUs(const config::NamedSettings& given) {
  for (const NamedSetting& setting : given) {
    if (setting.name() == kSpinSetting) return setting.int64_value();
  }
  return config::kSpinByCpus;
}

// Adds the settings that are the driver's, rather than of a decorator that
// shares its options, and are not as they would be anyway.
void AddSettings(const config::NamedSettings& given,
                 const config::SettingsDeclaration& side,
                 std::vector<std::string>& names) {
  for (const NamedSetting& setting : given) {
    if (setting.name() == kSpinSetting) continue;
    const config::SettingDeclaration* declared =
        config::FindSetting(side, setting.name());
    const bool is_passed_through =
        !side.pass_through_prefix.empty() &&
        absl::StartsWith(setting.name(), side.pass_through_prefix);
    if (declared == nullptr && !is_passed_through) continue;
    const config::SettingValue value =
        setting.has_string_value()
            ? config::SettingValue(setting.string_value())
            : config::SettingValue(setting.int64_value());
    if (declared != nullptr && declared->default_value == value) continue;
    names.push_back(setting.name());
  }
}

}  // namespace

UsedDriver UsedDriverOf(const DistributedSystemDescription& test,
                        const ServiceSpec& service) {
  UsedDriver used;
  const config::TestNames names(test);
  const config::DriverStack stack = config::ResolveDriverStack(
      test, names, config::OptionsOf(names, service));
  if (stack.problem || stack.drivers.empty()) return used;
  const auto [driver, options] = stack.drivers.back();
  used.name = driver->name;
  if (config::FindSetting(driver->client_settings, kSpinSetting) != nullptr ||
      config::FindSetting(driver->server_settings, kSpinSetting) != nullptr) {
    used.spin_us = std::max(SpinUs(options->client_settings()),
                            SpinUs(options->server_settings()));
  }
  AddSettings(options->client_settings(), driver->client_settings,
              used.settings);
  AddSettings(options->server_settings(), driver->server_settings,
              used.settings);
  return used;
}

}  // namespace distbench::simulation
