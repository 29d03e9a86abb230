// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/network_settings.h"

#include <linux/mptcp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/settings.h"

namespace distbench::protocol {
namespace {

// A setting that is a number of the socket, of 32 or 64 bits.
struct NumberOption {
  const config::TcpSettingLimits& setting;
  int64_t NetworkSettings::*asked;
  int option;          // of SOL_SOCKET
  size_t bytes;        // of the number
  int64_t multiplier;  // what the kernel makes of each unit
};

constexpr NumberOption kNumberOptions[] = {
    {config::kSendBufferBytes, &NetworkSettings::send_buffer_bytes, SO_SNDBUF,
     4, 2},
    {config::kReceiveBufferBytes, &NetworkSettings::receive_buffer_bytes,
     SO_RCVBUF, 4, 2},
    {config::kBusyPollUs, &NetworkSettings::busy_poll_us, SO_BUSY_POLL, 4, 1},
    {config::kMaxPacingRate, &NetworkSettings::max_pacing_bytes_per_second,
     SO_MAX_PACING_RATE, 8, 1},
};

// ---- Socket options ---------------------------------------------------------

bool SetNumber(int fd, int level, int option, size_t bytes, int64_t value) {
  const auto small = static_cast<int32_t>(value);
  const void* const data = bytes == sizeof(small)
                               ? static_cast<const void*>(&small)
                               : static_cast<const void*>(&value);
  return setsockopt(fd, level, option, data, static_cast<socklen_t>(bytes)) ==
         0;
}

bool SetFlag(int fd, int level, int option, bool value) {
  return SetNumber(fd, level, option, sizeof(int32_t), value);
}

// Returns -1 if the socket has no such option.
int64_t GetNumber(int fd, int level, int option,
                  size_t bytes = sizeof(int32_t)) {
  int32_t small = -1;
  int64_t large = -1;
  void* const data = bytes == sizeof(small) ? static_cast<void*>(&small)
                                            : static_cast<void*>(&large);
  auto length = static_cast<socklen_t>(bytes);
  if (getsockopt(fd, level, option, data, &length) != 0) return -1;
  return bytes == sizeof(small) ? small : large;
}

int FamilyOf(int fd) {
  return static_cast<int>(GetNumber(fd, SOL_SOCKET, SO_DOMAIN));
}

// The type of service is the DSCP and, in two bits that are TCP's, ECN.
constexpr int kEcnBits = 2;

// An IPv6 socket may have an IPv4 connection.
bool SetDscp(int fd, int64_t dscp) {
  const int64_t type = dscp << kEcnBits;
  return SetNumber(fd, IPPROTO_IP, IP_TOS, sizeof(int32_t), type) &&
         (FamilyOf(fd) != AF_INET6 ||
          SetNumber(fd, IPPROTO_IPV6, IPV6_TCLASS, sizeof(int32_t), type));
}

bool SendsIpv6(int fd) {
  sockaddr_in6 peer = {};
  socklen_t length = sizeof(peer);
  if (FamilyOf(fd) != AF_INET6) return false;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||
         !IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr);
}

int64_t GetDscp(int fd) {
  const int64_t type = SendsIpv6(fd) ? GetNumber(fd, IPPROTO_IPV6, IPV6_TCLASS)
                                     : GetNumber(fd, IPPROTO_IP, IP_TOS);
  return type < 0 ? type : type >> kEcnBits;
}

std::string GetCongestionControl(int fd) {
  char name[16] = "";  // the kernel's TCP_CA_NAME_MAX
  socklen_t length = sizeof(name);
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0) {
    return "unknown";
  }
  return std::string(name, strnlen(name, length));
}

bool HasNegotiatedEcn(int fd) {
  tcp_info info = {};
  socklen_t length = sizeof(info);
  return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
         (info.tcpi_options & TCPI_OPT_ECN) != 0;
}

// A socket that has fallen back to TCP knows nothing of MPTCP.
bool UsesMptcp(int fd) {
  mptcp_info info = {};
  socklen_t length = sizeof(info);
  return getsockopt(fd, SOL_MPTCP, MPTCP_INFO, &info, &length) == 0 &&
         (info.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK) == 0;
}

// ---- Readings ---------------------------------------------------------------

NetworkReading Reading(std::string name, std::string asked, std::string found) {
  const bool is_as_asked = asked == found;
  return {std::move(name), std::move(asked), std::move(found), is_as_asked};
}

NetworkReading ReadNumber(const NumberOption& number, int64_t asked, int fd) {
  const int64_t found = GetNumber(fd, SOL_SOCKET, number.option, number.bytes);
  return {.name = number.setting.name,
          .asked = absl::StrCat(asked),
          .found = absl::StrCat(found),
          .is_as_asked = found == asked * number.multiplier};
}

// What any socket has, also before it is connected.
std::vector<NetworkReading> ReadSocket(const NetworkSettings& settings,
                                       int fd) {
  std::vector<NetworkReading> readings;
  if (!settings.congestion_control.empty()) {
    readings.push_back(Reading(config::kCongestionControl,
                               settings.congestion_control,
                               GetCongestionControl(fd)));
  }
  if (settings.dscp != config::kDscp.default_value) {
    readings.push_back(Reading(config::kDscp.name, absl::StrCat(settings.dscp),
                               absl::StrCat(GetDscp(fd))));
  }
  for (const NumberOption& number : kNumberOptions) {
    const int64_t asked = settings.*number.asked;
    if (asked == number.setting.default_value) continue;
    readings.push_back(ReadNumber(number, asked, fd));
  }
  if (!settings.no_delay) {
    const bool is_on = GetNumber(fd, IPPROTO_TCP, TCP_NODELAY) != 0;
    readings.push_back(Reading(config::kNoDelay, config::kOff,
                               is_on ? config::kOn : config::kOff));
  }
  if (settings.zero_copy) {
    const bool is_on = GetNumber(fd, SOL_SOCKET, SO_ZEROCOPY) == 1;
    readings.push_back(Reading(config::kZeroCopy, config::kOn,
                               is_on ? config::kOn : config::kOff));
  }
  return readings;
}

// ---- Errors -----------------------------------------------------------------

std::string PermittedCongestionControls() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  std::string names;
  std::getline(file, names);
  return absl::StrReplaceAll(absl::StripAsciiWhitespace(names), {{" ", ", "}});
}

std::string RemedyFor(absl::string_view name) {
  if (name == config::kCongestionControl) {
    return absl::StrCat(
        "name one that this host permits: ", PermittedCongestionControls(),
        ", or add it to net.ipv4.tcp_allowed_congestion_control");
  }
  if (name == config::kSendBufferBytes.name) return "raise net.core.wmem_max";
  if (name == config::kReceiveBufferBytes.name)
    return "raise net.core.rmem_max";
  if (name == config::kBusyPollUs.name) {
    return "more than net.core.busy_read needs CAP_NET_ADMIN and a kernel with "
           "CONFIG_NET_RX_BUSY_POLL";
  }
  if (name == config::kMptcp) {
    return "set net.mptcp.enabled to 1 on a kernel with CONFIG_MPTCP";
  }
  return "this kernel does not offer it for such a socket";
}

absl::Status CannotSet(absl::string_view name, absl::string_view asked,
                       absl::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat("the setting ", name, " cannot be ", asked, ": ", reason,
                   "; ", RemedyFor(name), ", or remove the setting"));
}

// Refuses what has no meaning for a Unix socket.
absl::Status CheckForUnixSocket(NetworkSettings settings, int fd) {
  settings.send_buffer_bytes = config::kSendBufferBytes.default_value;
  const std::vector<NetworkReading> others = ReadSocket(settings, fd);
  if (others.empty() && !settings.requires_ecn && !settings.mptcp) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the setting ",
      !others.empty() ? others.front().name
                      : (settings.mptcp ? config::kMptcp : config::kEcn),
      " has no effect on Unix sockets; remove it, or set the server setting "
      "\"transport\" to \"tcp\""));
}

// Asks for everything that the kernel can refuse at once.
absl::Status Set(const NetworkSettings& settings, int fd) {
  const auto refused = [](absl::string_view name, absl::string_view asked) {
    return CannotSet(name, asked, std::strerror(errno));
  };
  const std::string& control = settings.congestion_control;
  if (!control.empty() &&
      setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                 static_cast<socklen_t>(control.size())) != 0) {
    return refused(config::kCongestionControl, control);
  }
  if (settings.dscp != config::kDscp.default_value &&
      !SetDscp(fd, settings.dscp)) {
    return refused(config::kDscp.name, absl::StrCat(settings.dscp));
  }
  if (settings.zero_copy && !SetFlag(fd, SOL_SOCKET, SO_ZEROCOPY, true)) {
    return refused(config::kZeroCopy, config::kOn);
  }
  for (const NumberOption& number : kNumberOptions) {
    const int64_t asked = settings.*number.asked;
    if (asked != number.setting.default_value &&
        !SetNumber(fd, SOL_SOCKET, number.option, number.bytes, asked)) {
      return refused(number.setting.name, absl::StrCat(asked));
    }
  }
  // Unix sockets have no such option and refuse it.
  SetFlag(fd, IPPROTO_TCP, TCP_NODELAY, settings.no_delay);
  return absl::OkStatus();
}

}  // namespace

NetworkSettings ReadNetworkSettings(
    const std::map<std::string, config::DriverOptions::Value>& values) {
  NetworkSettings settings;
  settings.congestion_control =
      ReadTextSetting(values, config::kCongestionControl, "");
  settings.dscp = ReadSetting(values, config::kDscp);
  settings.requires_ecn =
      ReadTextSetting(values, config::kEcn, "") == config::kRequired;
  for (const NumberOption& number : kNumberOptions) {
    settings.*number.asked = ReadSetting(values, number.setting);
  }
  settings.no_delay =
      ReadTextSetting(values, config::kNoDelay, config::kOn) == config::kOn;
  settings.zero_copy =
      ReadTextSetting(values, config::kZeroCopy, config::kOff) == config::kOn;
  settings.mptcp =
      ReadTextSetting(values, config::kMptcp, config::kOff) == config::kOn;
  return settings;
}

int ProtocolOf(const NetworkSettings& settings) {
  return settings.mptcp ? IPPROTO_MPTCP : 0;
}

base::FileDescriptor OpenSocket(int family, const NetworkSettings& settings) {
  const int protocol = family == AF_UNIX ? 0 : ProtocolOf(settings);
  return base::FileDescriptor(
      socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

absl::Status ApplyNetworkSettings(const NetworkSettings& settings, int fd) {
  if (FamilyOf(fd) == AF_UNIX) {
    absl::Status meaningful = CheckForUnixSocket(settings, fd);
    if (!meaningful.ok()) return meaningful;
  }
  if (absl::Status set = Set(settings, fd); !set.ok()) return set;
  // The kernel cuts some values down without saying so.
  for (const NetworkReading& reading : ReadSocket(settings, fd)) {
    if (reading.is_as_asked) continue;
    return CannotSet(reading.name, reading.asked,
                     absl::StrCat("the kernel has made it ", reading.found));
  }
  return absl::OkStatus();
}

absl::Status TryNetworkSettings(const NetworkSettings& settings, int family) {
  const base::FileDescriptor fd = OpenSocket(family, settings);
  if (fd.is_open()) return ApplyNetworkSettings(settings, fd.get());
  return settings.mptcp
             ? CannotSet(config::kMptcp, config::kOn, std::strerror(errno))
             : absl::ErrnoToStatus(errno, "cannot open a socket");
}

std::vector<NetworkReading> ReadBack(const NetworkSettings& settings, int fd) {
  std::vector<NetworkReading> readings = ReadSocket(settings, fd);
  if (settings.requires_ecn) {
    readings.push_back(
        Reading(config::kEcn, config::kRequired,
                HasNegotiatedEcn(fd) ? config::kRequired : "not negotiated"));
  }
  if (settings.mptcp) {
    readings.push_back(
        Reading(config::kMptcp, config::kOn,
                UsesMptcp(fd) ? config::kOn : "fell back to TCP"));
  }
  return readings;
}

namespace {

absl::Status CheckSide(const NetworkSettings& settings, absl::string_view side,
                       int family, bool uses_tls) {
  if (settings.zero_copy && uses_tls) {
    return absl::FailedPreconditionError(
        absl::StrCat(side,
                     "_settings: zero_copy has no effect with TLS, which "
                     "copies what it encrypts; remove the setting, or start "
                     "all nodes without TLS"));
  }
  const absl::Status status = TryNetworkSettings(settings, family);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(side, "_settings: ", status.message()));
}

}  // namespace

absl::Status DriverNetwork::Check(int family, bool uses_tls) const {
  absl::Status client = CheckSide(client_, "client", family, uses_tls);
  return client.ok() ? CheckSide(server_, "server", family, uses_tls) : client;
}

absl::Status DriverNetwork::Admit(Side side, int fd) {
  const std::vector<NetworkReading> found = ReadBack(settings(side), fd);
  if (found.empty()) return absl::OkStatus();
  for (const NetworkReading& reading : found) {
    if (reading.is_as_asked || reading.name != config::kEcn) continue;
    return absl::FailedPreconditionError(
        "ECN was not negotiated, which the setting ecn requires; set "
        "net.ipv4.tcp_ecn to 1 on this host and to 1 or 2 on the peer's, or "
        "remove the setting");
  }
  Count(side, found);
  return absl::OkStatus();
}

void DriverNetwork::Count(Side side,
                          const std::vector<NetworkReading>& settings) {
  const bool accepted = side == Side::kServer;
  const absl::MutexLock lock(&mutex_);
  for (ConnectionReadings& known : readings_) {
    if (known.accepted != accepted || known.settings != settings) continue;
    ++known.connection_count;
    return;
  }
  readings_.push_back({accepted, 1, settings});
}

std::vector<ConnectionReadings> DriverNetwork::Readings() const {
  const absl::MutexLock lock(&mutex_);
  return readings_;
}

}  // namespace distbench::protocol
