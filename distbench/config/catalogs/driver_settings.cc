#include "distbench/config/catalogs/driver_settings.h"

#include <cstdint>

#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::config {
namespace {

constexpr int64_t kMaxSpinUs = 1'000'000;

}  // namespace

SettingDeclaration LimitedSetting(const TcpSettingLimits& limits,
                                  const std::string& description) {
  return {
      .name = limits.name,
      .description = description,
      .default_value = limits.default_value,
      .minimum = limits.minimum,
      .maximum = limits.maximum,
  };
}

SettingDeclaration SpinUs() {
  return {
      .name = "spin_us",
      .description =
          "How long a worker with nothing to do keeps polling before it "
          "sleeps, in microseconds. Spinning answers sooner and costs CPU. The "
          "larger of the client's and the server's value counts, because one "
          "worker serves both. -1: 50 if the instance has fewer workers than "
          "its share of the host's CPUs, else 0.",
      .default_value = kSpinByCpus,
      .minimum = kSpinByCpus,
      .maximum = kMaxSpinUs,
  };
}

SettingDeclaration Transport() {
  return {
      .name = kTransportSetting,
      .description =
          "What carries the RPCs: \"tcp\", or \"unix\" for a Unix socket, "
          "which reaches instances on the same host only and has no TLS.",
      .default_value = kTcpTransport,
      .allowed_values = {kTcpTransport, kUnixTransport},
  };
}

SettingsDeclaration ChannelSettings() {
  return {.settings = {{
              .name = kChannelPolicySetting,
              .description =
                  "The load-balancing policy: \"round_robin\" spreads RPCs "
                  "over all members, \"pick_first\" uses the first member that "
                  "can be reached.",
              .default_value = kRoundRobinPolicy,
              .allowed_values = {kRoundRobinPolicy, kPickFirstPolicy},
          }}};
}

std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason) {
  return {{kCallsPerConnection.name,
           reason + "; use the driver \"grpc\", \"http2\", \"tcp\" or "
                    "\"thrift\""}};
}

}  // namespace distbench::config
