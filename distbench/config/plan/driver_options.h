// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The settings of drivers and activities, as far as these share them with
// config/.

#ifndef DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_
#define DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace distbench::config {

// Load-balancing policies of multi-server channels: each server in turn, or the
// first reachable one.
inline constexpr char kRoundRobinPolicy[] = "round_robin";
inline constexpr char kPickFirstPolicy[] = "pick_first";

// The addresses of servers outside of the test begin with this, as drivers are
// given them.
inline constexpr char kOutsidePrefix[] = "external:";

// The server setting of what is below a driver, and its values.
inline constexpr char kTransportSetting[] = "transport";
inline constexpr char kTcpTransport[] = "tcp";
inline constexpr char kUnixTransport[] = "unix";

// Value of the setting "spin_us" that lets the host's CPUs decide.
inline constexpr int64_t kSpinByCpus = -1;

// The value of a setting of a driver or an activity.
using SettingValue = std::variant<int64_t, std::string>;

// How the driver of a service is set up. The settings have been checked against
// the driver's declaration, so drivers can look them up without errors.
struct DriverOptions {
  using Value = SettingValue;

  std::string driver = "grpc";
  std::string netdev;  // empty: the host's best address
  int ip_version = 0;  // 0: the host's choice

  // Of the outermost driver: the program that hosts instances with these
  // options; empty: the node's own.
  std::string engine;

  std::map<std::string, Value> server_settings;
  std::map<std::string, Value> client_settings;

  // The decorated driver, if any; at most one.
  std::vector<DriverOptions> decorated;
};

// Which RPCs get time stamps of the wire, and by whose clock: the kernel's, or
// that of the network interface. In the order of WireTimeSpec's words.
enum class WireClock { kSoftware, kHardware };
struct WireTimeOptions {
  double share = 0;  // of the writes of clients; 0: none
  WireClock clock = WireClock::kSoftware;
};

// Returns the driver that is below all decorators.
inline const DriverOptions& Innermost(const DriverOptions& options) {
  return options.decorated.empty() ? options
                                   : Innermost(options.decorated.front());
}

// Returns the value of a setting; null if there is none of this type.
template <typename T>
const T* FindSettingValue(
    const std::map<std::string, DriverOptions::Value>& settings,
    const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : std::get_if<T>(&found->second);
}

// The most streams of the grpc_stream driver, and its default of requests that
// wait to be sent.
inline constexpr int64_t kMaxGrpcStreams = 1024;
inline constexpr int64_t kSendQueueMessages = 1024;

// Names, defaults and ranges of settings of the tcp driver and of drivers like
// it. The catalog declares them, and a driver falls back to them when it is
// created directly.
struct TcpSettingLimits {
  const char* name;
  int64_t default_value;
  int64_t minimum;
  int64_t maximum;
};

inline constexpr TcpSettingLimits kTcpConnections = {"connections", 1, 1,
                                                     16'384};
inline constexpr TcpSettingLimits kCallsPerConnection = {"calls_per_connection",
                                                         0, 0, 1'000'000'000};
inline constexpr TcpSettingLimits kTcpMaxBatch = {"max_batch", 64, 1, 4096};
inline constexpr TcpSettingLimits kTcpSendQueueBytes = {
    "send_queue_bytes", 16 << 20, 64 << 10, 1 << 30};
inline constexpr TcpSettingLimits kTcpSpinUs = {"spin_us", 0, 0, 1'000'000};

// Settings of the sockets of drivers over TCP connections, the same on both
// sides. By default, a number is what the host or the kernel chooses.
inline constexpr char kCongestionControl[] = "congestion_control";
inline constexpr char kEcn[] = "ecn";
inline constexpr char kRequired[] = "require";
inline constexpr char kNoDelay[] = "no_delay";
inline constexpr char kZeroCopy[] = "zero_copy";
inline constexpr char kMptcp[] = "mptcp";
inline constexpr char kOn[] = "on";
inline constexpr char kOff[] = "off";
inline constexpr TcpSettingLimits kDscp = {"dscp", -1, -1, 63};
inline constexpr TcpSettingLimits kSendBufferBytes = {"send_buffer_bytes", 0, 0,
                                                      1 << 29};
inline constexpr TcpSettingLimits kReceiveBufferBytes = {"receive_buffer_bytes",
                                                         0, 0, 1 << 29};
inline constexpr TcpSettingLimits kBusyPollUs = {"busy_poll_us", -1, -1,
                                                 1'000'000};
inline constexpr TcpSettingLimits kMaxPacingRate = {
    "max_pacing_bytes_per_second", 0, 0, int64_t{1} << 40};

// A batch of this size is written at once, even if it is below max_batch.
inline constexpr int64_t kTcpMaxBatchBytes = 256 << 10;

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_PLAN_DRIVER_OPTIONS_H_
