#include "distbench/protocol/registry/registry.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/calls/external_router.h"
#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/decorators/double_barrel.h"
#include "distbench/protocol/decorators/rpc_counter.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/tcp/driver_network.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/security/tls_session.h"
#include "optional_libraries.h"

#if DISTBENCH_HAS_LIBFABRIC
#include "distbench/products/libfabric/libfabric_driver.h"
#include "distbench/products/libfabric/settings.h"
#endif
#if DISTBENCH_HAS_NGHTTP2
#include "distbench/products/http2/http2_driver.h"
#include "distbench/products/http2/settings.h"
#endif

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

struct Driver {
  absl::string_view name;
  absl::StatusOr<std::unique_ptr<ProtocolDriver>> (*make)(
      const config::DriverOptions& options,
      const DriverEnvironment& environment);
};

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeLoopback(
    const config::DriverOptions& /*options*/,
    const DriverEnvironment& environment) {
  return MakeLoopbackDriver(base::RealClock(), environment.test_nonce,
                            environment.measures_time_parts);
}

// Makes a driver over TCP connections, whose TLS is for ALPN's `protocol`.
template <typename MadeDriver, typename MadeSettings>
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeStreamDriver(
    MadeSettings settings, absl::string_view protocol,
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  ConnectionSecurity security = {
      .test_nonce = environment.test_nonce,
      .network = std::make_shared<DriverNetwork>(
          ReadNetworkSettings(options.client_settings),
          ReadNetworkSettings(options.server_settings))};
  if (environment.tls != nullptr) {
    auto context = security::TlsContext::Make(
        environment.tls->files(), security::TlsRole::kNode, protocol);
    if (!context.ok()) return context.status();
    security.tls = *std::move(context);
  }
  settings.measures_time_parts = environment.measures_time_parts;
  return std::make_unique<MadeDriver>(
      settings,
      AddressPreference{.netdev = options.netdev,
                        .ip_version = options.ip_version,
                        .listen_address = environment.listen_address},
      environment.service_address, std::move(security));
}

#if DISTBENCH_HAS_NGHTTP2
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeHttp2(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  return MakeStreamDriver<http2::Http2Driver>(http2::ReadHttp2Settings(options),
                                              http2::kHttp2Alpn, options,
                                              environment);
}
#endif

#if DISTBENCH_HAS_LIBFABRIC
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeLibfabric(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  libfabric::LibfabricSettings settings =
      libfabric::ReadLibfabricSettings(options);
  settings.measures_time_parts = environment.measures_time_parts;
  return std::make_unique<libfabric::LibfabricDriver>(
      std::move(settings),
      AddressPreference{.netdev = options.netdev,
                        .ip_version = options.ip_version,
                        .listen_address = environment.listen_address},
      environment.service_address, environment.test_nonce,
      /*tls_is_wanted=*/environment.tls != nullptr);
}
#endif

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeTcp(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  return MakeStreamDriver<TcpDriver>(ReadTcpSettings(options), "", options,
                                     environment);
}

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeThrift(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  return MakeStreamDriver<thrift::ThriftDriver>(ReadTcpSettings(options), "",
                                                options, environment);
}

absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeInner(
    const config::DriverOptions& options, const DriverEnvironment& environment);

// Makes a driver that decorates the driver named by its options.
template <std::unique_ptr<ProtocolDriver> (*decorate)(
    std::unique_ptr<ProtocolDriver> inner)>
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeDecorator(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  if (options.decorated.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("driver \"", options.driver,
                     "\" decorates another driver, but none is named"));
  }
  auto inner = MakeInner(options.decorated.front(), environment);
  if (!inner.ok()) return inner.status();
  return decorate(*std::move(inner));
}

constexpr Driver kDrivers[] = {
    {"composable_rpc_counter", MakeDecorator<MakeRpcCounterDriver>},
    {"double_barrel", MakeDecorator<MakeDoubleBarrelDriver>},
    {"grpc", MakeGrpcDriver},
    {"grpc_stream", MakeGrpcStreamDriver},
#if DISTBENCH_HAS_LIBFABRIC
    {"libfabric", MakeLibfabric},
#endif
#if DISTBENCH_HAS_NGHTTP2
    {"http2", MakeHttp2},
#endif
    {"tcp", MakeTcp},
    {"thrift", MakeThrift},
    {"loopback", MakeLoopback},
};

absl::Status NoSuchDriver(const std::string& name) {
  const auto append_name = [](std::string* out, const Driver& driver) {
    absl::StrAppend(out, "\"", driver.name, "\"");
  };
  return absl::NotFoundError(
      absl::StrCat("there is no protocol driver \"", name, "\"; there are ",
                   absl::StrJoin(kDrivers, ", ", append_name)));
}

// Makes the driver without what it calls outside of the test.
absl::StatusOr<std::unique_ptr<ProtocolDriver>> MakeInner(
    const config::DriverOptions& options,
    const DriverEnvironment& environment) {
  const Driver* driver = std::find_if(std::begin(kDrivers), std::end(kDrivers),
                                      [&](const Driver& candidate) {
                                        return candidate.name == options.driver;
                                      });
  if (driver == std::end(kDrivers)) return NoSuchDriver(options.driver);
  return driver->make(WithSpinning(options, environment.has_spare_cpu),
                      environment);
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
  auto driver = MakeInner(options, environment);
  if (!driver.ok() || environment.external.calls.empty()) return driver;
  return external::MakeExternalRouter(*std::move(driver), environment.external);
}

}  // namespace distbench::protocol
