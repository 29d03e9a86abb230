// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/registry/registry.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/protocol/decorators/decorators.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

constexpr char kSpinSetting[] = "spin_us";

using Settings = std::map<std::string, config::DriverOptions::Value>;

// Removes the setting if it is kSpinByCpus. Returns whether it was.
bool DropIfByCpus(Settings& settings) {
  const auto found = settings.find(kSpinSetting);
  if (found == settings.end() ||
      found->second != config::DriverOptions::Value(config::kSpinByCpus)) {
    return false;
  }
  settings.erase(found);
  return true;
}

using Made = absl::StatusOr<std::unique_ptr<ProtocolDriver>>;

Made MakeLoopback(const config::DriverOptions& /*options*/,
                  const DriverEnvironment& environment) {
  return MakeLoopbackDriver(base::RealClock(), environment.test_nonce,
                            environment.measures_time_parts);
}

Made MakeTcp(const config::DriverOptions& options,
             const DriverEnvironment& environment) {
  return MakeStreamDriver<TcpDriver>(ReadTcpSettings(options), "", options,
                                     environment);
}

// Makes a driver that decorates the driver named by its options.
template <std::unique_ptr<ProtocolDriver> (*decorate)(
    std::unique_ptr<ProtocolDriver> inner)>
Made MakeDecorator(const config::DriverOptions& options,
                   const DriverEnvironment& environment) {
  if (options.decorated.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("driver \"", options.driver,
                     "\" decorates another driver, but none is named"));
  }
  auto inner = MakeProtocolDriver(options.decorated.front(), environment);
  if (!inner.ok()) return inner.status();
  return decorate(*std::move(inner));
}

using DriverMakers = std::map<std::string, DriverMaker>;

DriverMakers CollectMakers() {
  DriverMakers makers = {
      {"composable_rpc_counter", {MakeDecorator<MakeRpcCounterDriver>}},
      {"double_barrel", {MakeDecorator<MakeDoubleBarrelDriver>}},
      {"grpc", {MakeGrpcDriver}},
      {"grpc_stream", {MakeGrpcStreamDriver}},
      {"tcp", {MakeTcp}},
      {"loopback", {MakeLoopback}},
  };
  for (const auto& [name, maker] : base::Plugins<DriverMaker>::All()) {
    CHECK(makers.emplace(name, *maker).second)
        << "two drivers are called " << name;
  }
  return makers;
}

}  // namespace

config::DriverOptions WithSpinning(config::DriverOptions options,
                                   bool has_spare_cpu) {
  const bool client_by_cpus = DropIfByCpus(options.client_settings);
  const bool server_by_cpus = DropIfByCpus(options.server_settings);
  const bool is_said = options.client_settings.count(kSpinSetting) > 0 ||
                       options.server_settings.count(kSpinSetting) > 0;
  if ((client_by_cpus || server_by_cpus) && !is_said && has_spare_cpu) {
    options.client_settings[kSpinSetting] = int64_t{kSpareCpuSpinUs};
  }
  return options;
}

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeProtocolDriver(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  static const auto* const makers = new DriverMakers(CollectMakers());
  const auto maker = makers->find(options.driver);
  if (maker != makers->end()) {
    return maker->second.make(WithSpinning(options, environment.has_spare_cpu),
                              environment);
  }
  const auto append_name = [](std::string* out, const auto& known) {
    absl::StrAppend(out, "\"", known.first, "\"");
  };
  return absl::NotFoundError(absl::StrCat(
      "there is no protocol driver \"", options.driver, "\"; there are ",
      absl::StrJoin(*makers, ", ", append_name)));
}

std::unique_ptr<ProtocolDriver> ExtendDriver(
    std::unique_ptr<ProtocolDriver> driver, const DriverOwner& owner) {
  for (const auto& [name, extension] : base::Plugins<DriverExtension>::All()) {
    driver = extension->Extend(std::move(driver), owner);
  }
  return driver;
}

}  // namespace distbench::protocol
