#include "distbench/config/catalogs/driver_settings.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"

namespace distbench::config {
namespace {

using Settings = std::vector<SettingDeclaration>;

constexpr int64_t kMaxSpinUs = 1'000'000;

SettingDeclaration Switch(const char* name, const char* default_value,
                          const std::string& description) {
  return {
      .name = name,
      .description = description,
      .default_value = default_value,
      .allowed_values = {kOn, kOff},
  };
}

SettingDeclaration Ecn() {
  return {
      .name = kEcn,
      .description =
          "\"require\" refuses connections for which ECN was not negotiated. A "
          "socket cannot ask for ECN; the host's net.ipv4.tcp_ecn does.",
      .default_value = "any",
      .allowed_values = {"any", kRequired},
  };
}

std::vector<SettingDeclaration> OfBothSides() {
  return {
      {
          .name = kCongestionControl,
          .description = "TCP's congestion control, one that the host permits. "
                         "Empty: the host's.",
          .default_value = "",
      },
      LimitedSetting(
          kDscp,
          "The DSCP of the packets that this side sends; -1: the host's."),
      LimitedSetting(
          kSendBufferBytes,
          "The socket's send buffer (SO_SNDBUF), of which the kernel makes "
          "twice as much. 0: the kernel adjusts it."),
      LimitedSetting(
          kReceiveBufferBytes,
          "The socket's receive buffer (SO_RCVBUF), of which the kernel "
          "makes twice as much. 0: the kernel adjusts it."),
      Switch(kNoDelay, kOn,
             "\"off\" lets small writes wait for acknowledgements (Nagle's "
             "algorithm)."),
      LimitedSetting(
          kBusyPollUs,
          "How long the kernel polls the network device before a read finds "
          "nothing, in microseconds; -1: the host's."),
      Switch(kMptcp, kOff,
             "\"on\" makes connections of Multipath TCP, if both sides do."),
      LimitedSetting(
          kMaxPacingRate,
          "The most that a connection sends in a second; 0: no limit."),
  };
}

// The settings of the socket of one side come last.
Settings Joined(Settings settings, const Settings& own,
                const Settings& network) {
  settings.insert(settings.end(), own.begin(), own.end());
  settings.insert(settings.end(), network.begin(), network.end());
  return settings;
}

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

SettingDeclaration ZeroCopySetting() {
  return Switch(kZeroCopy, kOff,
                "\"on\" sends payloads of 16 KiB and more without copying them "
                "(MSG_ZEROCOPY), where the network device can.");
}

DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server) {
  Settings of_client_network = OfBothSides();
  of_client_network.push_back(Ecn());
  return {
      .name = name,
      .description = description,
      .cancels_calls = true,
      .breaks_connections = true,
      .client_settings =
          {.settings = Joined(
               {LimitedSetting(kTcpConnections,
                               "Connections from each worker of a client to "
                               "each server, used in turn."),
                LimitedSetting(kCallsPerConnection,
                               "Calls after which a connection is closed and "
                               "another one made; 0 is never, 1 a connection "
                               "for each call. The time to connect is part of "
                               "the latency of a connection's first call."),
                LimitedSetting(kTcpSendQueueBytes,
                               "Bytes that may wait to be written to a "
                               "connection before requests are held back."),
                SpinUs()},
               of_client, of_client_network)},
      .server_settings = {.settings = Joined({Transport(), SpinUs()}, of_server,
                                             OfBothSides())},
      .channel_settings = ChannelSettings(),
  };
}

std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason) {
  return {{kCallsPerConnection.name, reason}};
}

std::map<std::string, std::string> NoNetworkSettings(
    const std::string& reason) {
  std::map<std::string, std::string> refused = {{kEcn, reason},
                                                {kZeroCopy, reason}};
  for (const SettingDeclaration& setting : OfBothSides()) {
    refused[setting.name] = reason;
  }
  return refused;
}

bool NeedsNetwork(absl::string_view setting) {
  if (setting == kSendBufferBytes.name) return false;
  return setting == kEcn || setting == kZeroCopy ||
         absl::c_any_of(OfBothSides(), [&](const SettingDeclaration& one) {
           return one.name == setting;
         });
}

}  // namespace distbench::config
