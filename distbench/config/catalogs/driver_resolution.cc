// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/driver_resolution.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::config {
namespace {

// A name that should resolve to a driver, and where it appears (see
// DriverProblem).
struct ProtocolName {
  std::string name;
  int options = kNone;
  std::string server_setting;
};

std::string NoSuchProtocol(const TestNames& names, const std::string& name) {
  std::vector<std::string> known = BuiltInDriverNames();
  const auto& options = names.driver_options.names();
  known.insert(known.end(), options.begin(), options.end());
  return absl::StrCat("no driver and no options are named ", Quoted(name), "; ",
                      ExplainUnknownName(name, known));
}

std::string NotBuiltIn(const DriverDeclaration& driver) {
  return absl::StrCat(
      "driver ", Quoted(driver.name), " is not built into this distbench",
      driver.package.empty() ? "" : ", which was built without ",
      driver.package, "; available are ", QuotedList(BuiltInDriverNames()));
}

std::string TooMany(absl::string_view what, const std::string& name) {
  return absl::StrCat("more than ", kMaxDriverDepth, " ", what,
                      " follow one another, up to ", Quoted(name),
                      "; name a driver earlier");
}

std::string NeedsOptions(const DriverDeclaration& driver, bool has_options) {
  return absl::StrCat("driver ", Quoted(driver.name), " needs the setting ",
                      Quoted(driver.decorated_driver_setting), "; ",
                      has_options ? "add it here, or " : "",
                      "name protocol_driver_options that have it");
}

class Resolver {
 public:
  Resolver(const DistributedSystemDescription& test, const TestNames& names)
      : test_(test), names_(names) {}

  // Call once per resolver.
  DriverStack Resolve(int options) {
    ProtocolName name = ProtocolOf(options);
    for (;;) {
      const DriverDeclaration* driver = Follow(name, options);
      if (driver == nullptr) break;
      if (stack_.drivers.size() == kMaxDriverDepth) {
        Fail(name, TooMany("drivers", driver->name));
        break;
      }
      const bool shares_options = options != kNone && name.options == options &&
                                  !name.server_setting.empty();
      stack_.drivers.push_back({driver, &Options(options)});
      if (driver->decorated_driver_setting.empty()) break;
      ProtocolName decorated = DecoratedBy(*driver, options);
      if (decorated.name.empty()) {
        const bool is_outermost = options != kNone && !shares_options;
        Fail(is_outermost ? decorated : name,
             NeedsOptions(*driver, options != kNone));
        break;
      }
      name = std::move(decorated);
    }
    return std::move(stack_);
  }

 private:
  const ProtocolDriverOptions& Options(int options) const {
    return options == kNone ? ProtocolDriverOptions::default_instance()
                            : test_.protocol_driver_options(options);
  }

  ProtocolName ProtocolOf(int options) const {
    const std::string& own = Options(options).protocol_name();
    if (own.empty()) return {.name = test_.default_protocol()};
    return {.name = own, .options = options};
  }

  ProtocolName DecoratedBy(const DriverDeclaration& driver, int options) const {
    const std::string& setting = driver.decorated_driver_setting;
    return {.name = StringSetting(Options(options).server_settings(),
                                  driver.server_settings, setting),
            .options = options,
            .server_setting = setting};
  }

  // Returns the driver to which the name leads, and sets `options` to the last
  // options on the way. Returns null on failure.
  const DriverDeclaration* Follow(const ProtocolName& name, int& options) {
    ProtocolName current = name;
    for (int depth = 0;; ++depth) {
      if (const DriverDeclaration* driver = FindDriver(current.name)) {
        if (driver->built_in) return driver;
        return Fail(current, NotBuiltIn(*driver));
      }
      const int next = names_.driver_options.Find(current.name);
      if (next == kNone) {
        return Fail(current, NoSuchProtocol(names_, current.name));
      }
      if (depth == kMaxDriverDepth) {
        return Fail(name, TooMany("protocol_driver_options", current.name));
      }
      options = next;
      current = ProtocolOf(next);
    }
  }

  const DriverDeclaration* Fail(const ProtocolName& name, std::string message) {
    stack_.problem = {.options = name.options,
                      .server_setting = name.server_setting,
                      .message = std::move(message)};
    return nullptr;
  }

  const DistributedSystemDescription& test_;
  const TestNames& names_;
  DriverStack stack_;
};

DriverOptions OptionsOfLevel(const ResolvedDriver& level) {
  const DriverDeclaration& driver = *level.driver;
  const ProtocolDriverOptions& options = *level.options;
  DriverOptions made;
  made.driver = driver.alias_of.empty() ? driver.name : driver.alias_of;
  made.netdev = options.netdev_name();
  made.ip_version = options.ip_version();
  made.client_settings =
      ResolveSettings(options.client_settings(), driver.client_settings);
  made.server_settings =
      ResolveSettings(options.server_settings(), driver.server_settings);
  return made;
}

}  // namespace

int OptionsOf(const TestNames& names, const ServiceSpec& service) {
  const bool named = !service.protocol_driver_options_name().empty();
  return names.driver_options.Find(
      named ? service.protocol_driver_options_name() : kDefaultDriverOptions);
}

DriverStack ResolveDriverStack(const DistributedSystemDescription& test,
                               const TestNames& names, int options) {
  return Resolver(test, names).Resolve(options);
}

std::vector<ResolvedDriver> DriversOf(const DistributedSystemDescription& test,
                                      const TestNames& names,
                                      const ServiceSpec& service) {
  DriverStack stack =
      ResolveDriverStack(test, names, OptionsOf(names, service));
  if (stack.problem.has_value()) return {};
  return std::move(stack.drivers);
}

std::set<std::string> ServicesInOneProcess(
    const DistributedSystemDescription& test) {
  const TestNames names(test);
  std::set<std::string> services;
  for (const ServiceSpec& service : test.services()) {
    if (IsOutside(service)) continue;
    const auto drivers = DriversOf(test, names, service);
    if (!drivers.empty() && drivers.back().driver->stays_in_process) {
      services.insert(service.name());
    }
  }
  return services;
}

DriverOptions MakeDriverOptions(const std::vector<ResolvedDriver>& drivers) {
  DriverOptions options = OptionsOfLevel(drivers.back());
  for (int level = static_cast<int>(drivers.size()) - 2; level >= 0; --level) {
    DriverOptions outer = OptionsOfLevel(drivers[level]);
    outer.decorated.push_back(std::move(options));
    options = std::move(outer);
  }
  options.engine = EngineOf(drivers);
  return options;
}

std::string EngineOf(const std::vector<ResolvedDriver>& drivers) {
  for (const ResolvedDriver& level : drivers) {
    if (!level.options->engine().empty()) return level.options->engine();
  }
  return "";
}

}  // namespace distbench::config
