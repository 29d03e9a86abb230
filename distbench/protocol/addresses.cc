// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/host_port.h"
#include "distbench/base/hosts.h"
#include "distbench/base/listen_address.h"
#include "distbench/security/nonce.h"

namespace distbench::protocol {
namespace {

// A numeric address, IPv4 or IPv6.
struct Ip {
  int version = 0;
  in_addr v4;
  in6_addr v6;

  uint32_t v4_bits() const { return ntohl(v4.s_addr); }
};

Ip Parse(absl::string_view text) {
  const std::string ip(text);
  Ip parsed;
  if (inet_pton(AF_INET, ip.c_str(), &parsed.v4) == 1) {
    parsed.version = 4;
  } else if (inet_pton(AF_INET6, ip.c_str(), &parsed.v6) == 1) {
    parsed.version = 6;
  }
  return parsed;
}

bool IsLoopback(const Ip& ip) {
  return ip.version == 4 ? ip.v4_bits() >> 24 == 127
                         : IN6_IS_ADDR_LOOPBACK(&ip.v6);
}

bool IsLinkLocal(const Ip& ip) {
  return ip.version == 4 ? ip.v4_bits() >> 16 == (169 << 8 | 254)
                         : IN6_IS_ADDR_LINKLOCAL(&ip.v6);
}

// Private ranges: 10/8, 172.16/12, 192.168/16 and fc00::/7.
bool IsPrivate(const Ip& ip) {
  if (ip.version == 6) return (ip.v6.s6_addr[0] & 0xfe) == 0xfc;
  const uint32_t bits = ip.v4_bits();
  return bits >> 24 == 10 || bits >> 20 == (172 << 4 | 1) ||
         bits >> 16 == (192 << 8 | 168);
}

bool IsAllowed(const InterfaceAddress& candidate, const Ip& ip,
               const AddressPreference& preference) {
  if (ip.version == 0 || IsLinkLocal(ip)) return false;
  if (preference.ip_version != 0 && ip.version != preference.ip_version) {
    return false;
  }
  return preference.netdev.empty() ||
         candidate.interface_name == preference.netdev;
}

int Score(const Ip& ip) {
  return 2 * !IsLoopback(ip) + (ip.version == 6) + IsPrivate(ip);
}

// `there_is`: what the host has.
absl::Status NoSuitableAddress(absl::string_view there_is,
                               const AddressPreference& preference) {
  std::string wanted = "no usable ";
  if (preference.ip_version != 0) {
    absl::StrAppend(&wanted, "IPv", preference.ip_version, " ");
  }
  absl::StrAppend(&wanted, "address");
  if (!preference.netdev.empty()) {
    absl::StrAppend(&wanted, " on network device \"", preference.netdev, "\"");
  }
  return absl::NotFoundError(absl::StrCat(
      wanted, "; this host has: ", there_is,
      ". Set netdev_name and ip_version of the protocol driver options to one "
      "of these; link-local addresses are not usable"));
}

std::string Describe(absl::Span<const InterfaceAddress> candidates) {
  return absl::StrJoin(
      candidates, ", ", [](std::string* out, const InterfaceAddress& address) {
        absl::StrAppend(out, address.interface_name, " ", address.ip);
      });
}

absl::StatusOr<std::string> ChooseBindHost(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference, const std::string& advertised) {
  const Ip ip = Parse(advertised);
  if (advertised == "localhost" || (ip.version != 0 && IsLoopback(ip))) {
    return advertised;
  }
  if (!preference.netdev.empty()) {
    return ChooseHostAddress(candidates, preference);
  }
  const int version = ip.version != 0 ? ip.version : preference.ip_version;
  return version == 4 ? "0.0.0.0" : version == 6 ? "::" : base::AllInterfaces();
}

}  // namespace

std::string IpOf(const sockaddr& address) {
  const void* ip;
  if (address.sa_family == AF_INET) {
    ip = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    ip = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  } else {
    return "";
  }
  char text[INET6_ADDRSTRLEN];
  const bool is_shown =
      inet_ntop(address.sa_family, ip, text, sizeof(text)) != nullptr;
  return is_shown ? text : "";
}

absl::StatusOr<std::vector<InterfaceAddress>> ListInterfaceAddresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    return absl::InternalError(absl::StrCat(
        "cannot list the network interfaces: ", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = first; entry; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || !(entry->ifa_flags & IFF_UP)) continue;
    std::string ip = IpOf(*entry->ifa_addr);
    if (ip.empty()) continue;
    addresses.push_back({entry->ifa_name, std::move(ip)});
  }
  return addresses;
}

absl::StatusOr<std::string> ChooseHostAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference) {
  const InterfaceAddress* best = nullptr;
  int best_score = -1;
  for (const InterfaceAddress& candidate : candidates) {
    const Ip ip = Parse(candidate.ip);
    if (!IsAllowed(candidate, ip, preference)) continue;
    const int score = Score(ip);
    if (score > best_score) {
      best = &candidate;
      best_score = score;
    }
  }
  if (best == nullptr) {
    return NoSuitableAddress(Describe(candidates), preference);
  }
  return best->ip;
}

absl::Status CheckDevice(const std::string& netdev,
                         absl::Span<const std::string> devices) {
  if (std::find(devices.begin(), devices.end(), netdev) != devices.end()) {
    return absl::OkStatus();
  }
  return NoSuitableAddress(absl::StrJoin(devices, ", "), {.netdev = netdev});
}

absl::StatusOr<ListenAddress> ChooseListenAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference, absl::string_view service_address) {
  if (!preference.listen_address.empty()) {
    const std::string bind_host(
        base::WithoutBrackets(preference.listen_address));
    return ListenAddress{
        .bind_host = bind_host,
        .advertised_host =
            service_address.empty()
                ? bind_host
                : std::string(base::WithoutBrackets(service_address))};
  }
  if (service_address.empty()) {
    absl::StatusOr<std::string> host =
        ChooseHostAddress(candidates, preference);
    if (!host.ok()) return host.status();
    return ListenAddress{.bind_host = *host, .advertised_host = *host};
  }
  const std::string advertised(base::WithoutBrackets(service_address));
  absl::StatusOr<std::string> bind_host =
      ChooseBindHost(candidates, preference, advertised);
  if (!bind_host.ok()) return bind_host.status();
  return ListenAddress{.bind_host = *bind_host, .advertised_host = advertised};
}

int IpVersionOf(absl::string_view host) { return Parse(host).version; }

namespace {

constexpr char kNetworkNamespace[] = "/proc/self/ns/net";
constexpr size_t kRandomBytes = 8;

// Returns what all addresses of this host begin with: its names of abstract
// sockets end with its boot and its network namespace.
absl::StatusOr<std::string> HostPrefix() {
  const std::string boot = base::BootId("");
  struct stat network = {};
  if (boot.empty() || stat(kNetworkNamespace, &network) != 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot identify this host by ", base::kBootIdFile, " and ",
        kNetworkNamespace,
        ", as transport \"unix\" needs; mount /proc, or use transport "
        "\"tcp\""));
  }
  return absl::StrCat(kUnixScheme, "distbench-", boot, "-", network.st_ino,
                      "-");
}

}  // namespace

bool IsUnixAddress(absl::string_view address) {
  return absl::StartsWith(address, kUnixScheme);
}

absl::StatusOr<std::string> NewUnixAddress(bool uses_tls) {
  if (uses_tls) {
    return absl::FailedPreconditionError(
        "transport \"unix\" has no TLS, and this node uses TLS for its "
        "traffic; use transport \"tcp\", or start the nodes without --tls_ca, "
        "--tls_cert and --tls_key");
  }
  absl::StatusOr<std::string> prefix = HostPrefix();
  if (!prefix.ok()) return prefix.status();
  return absl::StrCat(
      *prefix,
      absl::BytesToHexString(security::DrawNonce().substr(0, kRandomBytes)));
}

absl::Status CheckIsOfThisHost(absl::string_view unix_address) {
  const absl::StatusOr<std::string> prefix = HostPrefix();
  if (!prefix.ok()) return prefix.status();
  if (absl::StartsWith(unix_address, *prefix)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "peer ", unix_address,
      " is on another host or in another network namespace, where transport "
      "\"unix\" does not reach; place both instances on one node, or use "
      "transport \"tcp\""));
}

}  // namespace distbench::protocol
