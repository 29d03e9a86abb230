#include "distbench/products/stacks/stack_name.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/measurements/origin.h"

namespace distbench::stacks {
namespace {

std::string SettingText(absl::string_view side, const NamedSetting& setting) {
  return absl::StrCat(side, " ", setting.name(), "=",
                      setting.has_int64_value()
                          ? absl::StrCat(setting.int64_value())
                          : setting.string_value());
}

std::string SettingsOf(const ProtocolDriverOptions& options) {
  std::set<std::string> settings;
  for (const NamedSetting& setting : options.client_settings()) {
    settings.insert(SettingText("client", setting));
  }
  for (const NamedSetting& setting : options.server_settings()) {
    settings.insert(SettingText("server", setting));
  }
  if (!options.netdev_name().empty()) {
    settings.insert(absl::StrCat("netdev_name=", options.netdev_name()));
  }
  if (options.ip_version() != 0) {
    settings.insert(absl::StrCat("ip_version=", options.ip_version()));
  }
  return absl::StrJoin(settings, ", ");
}

StackName StackOfService(const DistributedSystemDescription& test,
                         const config::TestNames& names,
                         const ServiceSpec& service) {
  const config::DriverStack stack = config::ResolveDriverStack(
      test, names, config::OptionsOf(names, service));
  // Results may name drivers that this program was built without.
  if (stack.problem) return {"an unknown driver", stack.problem->message};
  std::vector<std::string> drivers;
  std::vector<std::string> settings;
  for (const config::ResolvedDriver& level : stack.drivers) {
    drivers.push_back(level.driver->name);
    settings.push_back(SettingsOf(*level.options));
  }
  return {absl::StrJoin(drivers, " over "), absl::StrJoin(settings, "; ")};
}

}  // namespace

StackName StackOf(const DistributedSystemDescription& test) {
  const config::TestNames names(test);
  std::set<std::string> drivers;
  std::set<std::string> settings;
  // The services of each stack are part of it only if there are several.
  std::map<std::string, std::vector<std::string>> services;
  for (const ServiceSpec& service : test.services()) {
    if (config::IsOutside(service)) continue;
    const StackName stack = StackOfService(test, names, service);
    drivers.insert(stack.drivers);
    services[absl::StrCat(stack.drivers, ": ", stack.settings)].push_back(
        service.name());
    settings.insert(stack.settings);
  }
  if (services.size() <= 1) {
    return {absl::StrJoin(drivers, ""), absl::StrJoin(settings, "")};
  }
  std::vector<std::string> by_service;
  for (const auto& [stack, users] : services) {
    by_service.push_back(absl::StrCat(absl::StrJoin(users, ", "), ": ", stack));
  }
  return {absl::StrJoin(drivers, " + "), absl::StrJoin(by_service, "; ")};
}

std::vector<std::string> NameStacks(absl::Span<const report::TestRun> runs) {
  std::vector<StackName> stacks;
  std::map<std::string, std::set<std::string>> settings_of_drivers;
  for (const report::TestRun& run : runs) {
    StackName& stack =
        stacks.emplace_back(StackOf(run.result->traffic_config()));
    stack.drivers = report::MarkedName(stack.drivers, *run.result);
    settings_of_drivers[stack.drivers].insert(stack.settings);
  }
  std::vector<std::string> names;
  for (const StackName& stack : stacks) {
    const bool is_unique = settings_of_drivers[stack.drivers].size() == 1;
    names.push_back(
        is_unique ? stack.drivers
        : stack.settings.empty()
            ? absl::StrCat(stack.drivers, " (defaults)")
            : absl::StrCat(stack.drivers, " (", stack.settings, ")"));
  }
  return names;
}

}  // namespace distbench::stacks
