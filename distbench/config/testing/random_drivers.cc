// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/random_drivers.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"

namespace distbench::config {
namespace {

class DriverDraw {
 public:
  DriverDraw(const std::string& driver, fuzzing::RandomSource& random,
             DistributedSystemDescription& test)
      : driver_(driver), random_(random), test_(test) {
    for (const DriverDeclaration& known : DriverCatalog()) {
      if (!known.decorated_driver_setting.empty()) decorators_.push_back(known);
    }
  }

  void Draw() {
    test_.clear_default_protocol();
    test_.clear_protocol_driver_options();
    DrawDefault();
    for (ServiceSpec& service : *test_.mutable_services()) {
      service.clear_protocol_driver_options_name();
      if (!random_.Chance(0.2)) continue;
      ProtocolDriverOptions& own = AddOptions();
      own.set_protocol_name(AnyProtocol());
      service.set_protocol_driver_options_name(own.name());
    }
  }

 private:
  // Draws the driver of services that name no options.
  void DrawDefault() {
    if (random_.Chance(0.5)) {
      test_.set_default_protocol(random_.Chance(0.01) ? AnyDecorator().name
                                                      : AnyProtocol());
      return;
    }
    ProtocolDriverOptions& options = AddOptions();
    options.set_name(kDefaultDriverOptions);
    if (random_.Chance(0.5)) {
      options.set_protocol_name(AnyProtocol());
    } else if (random_.Chance(0.5)) {
      test_.set_default_protocol(AnyProtocol());
    } else {
      // The options are one of the decorators.
      Decorate(options, std::max<int64_t>(1, AnyDecorators()) - 1);
      test_.set_default_protocol(options.protocol_name());
      options.clear_protocol_name();
    }
  }

  std::string AnyProtocol() { return ProtocolAround(AnyDecorators()); }

  // A protocol_name that resolves through this many decorators.
  std::string ProtocolAround(int64_t decorators) {
    std::string name = driver_;
    if (decorators > 0) {
      ProtocolDriverOptions& options = AddOptions();
      Decorate(options, decorators - 1);
      name = options.name();
    }
    // Options of a decorator count among those that lead to it.
    const int64_t most = kMaxDriverDepth - (decorators > 0 ? 1 : 0);
    for (int64_t aliases = AnyCount(most); aliases > 0; --aliases) {
      ProtocolDriverOptions& alias = AddOptions();
      alias.set_protocol_name(name);
      name = alias.name();
    }
    return name;
  }

  // Turns the options into those of a decorator, with this many others inside.
  void Decorate(ProtocolDriverOptions& options, int64_t decorators) {
    const DriverDeclaration& decorator = AnyDecorator();
    options.set_protocol_name(decorator.name);
    NamedSetting& setting = *options.add_server_settings();
    setting.set_name(decorator.decorated_driver_setting);
    setting.set_string_value(random_.Chance(0.01) ? AnyDecorator().name
                                                  : ProtocolAround(decorators));
  }

  const DriverDeclaration& AnyDecorator() { return random_.OneOf(decorators_); }

  // Mostly zero; rarely the most that are valid, and more rarely too many: what
  // is invalid shows nothing but that it is refused.
  int64_t AnyCount(int64_t most) {
    if (random_.Chance(0.02)) return random_.Between(most - 1, most);
    if (random_.Chance(0.002)) return random_.Between(most + 1, most + 2);
    return random_.Chance(0.3) ? random_.Between(1, 2) : 0;
  }

  // The driver itself is one of the stack.
  int64_t AnyDecorators() { return AnyCount(kMaxDriverDepth - 1); }

  ProtocolDriverOptions& AddOptions() {
    ProtocolDriverOptions& options = *test_.add_protocol_driver_options();
    options.set_name(
        absl::StrCat("options", test_.protocol_driver_options_size()));
    return options;
  }

  const std::string& driver_;
  fuzzing::RandomSource& random_;
  DistributedSystemDescription& test_;
  std::vector<DriverDeclaration> decorators_;
};

}  // namespace

void DrawDrivers(const std::string& driver, fuzzing::RandomSource& random,
                 DistributedSystemDescription& test) {
  DriverDraw(driver, random, test).Draw();
}

}  // namespace distbench::config
