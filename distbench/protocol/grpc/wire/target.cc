#include "distbench/protocol/grpc/wire/target.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/host_port.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/unix_address.h"

namespace distbench::protocol {
namespace {

constexpr absl::string_view kIpv4 = "ipv4:";
constexpr absl::string_view kIpv6 = "ipv6:";
constexpr absl::string_view kName = "dns:///";

// The address of one server, as it appears in a target.
struct Address {
  int ip_version = 0;  // 0: a Unix socket
  std::string text;    // "1.2.3.4:567", "[1::2]:567" or a socket's name
};

// Looks up the first address of a host.
absl::StatusOr<Address> LookUp(const std::string& name,
                               const std::string& port) {
  const addrinfo hints = {.ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot look up peer ", name, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                             freeaddrinfo);
  char host[NI_MAXHOST];
  const int not_shown = getnameinfo(found->ai_addr, found->ai_addrlen, host,
                                    sizeof(host), nullptr, 0, NI_NUMERICHOST);
  if (not_shown != 0) {
    return absl::InternalError(absl::StrCat(
        "cannot write the address of ", name, ": ", gai_strerror(not_shown)));
  }
  const int version = found->ai_family == AF_INET ? 4 : 6;
  return Address{version, version == 4 ? absl::StrCat(host, ":", port)
                                       : absl::StrCat("[", host, "]:", port)};
}

absl::StatusOr<Address> AddressOf(absl::string_view target) {
  if (absl::ConsumePrefix(&target, kUnixScheme)) {
    return Address{0, std::string(target)};
  }
  if (absl::ConsumePrefix(&target, kIpv4)) {
    return Address{4, std::string(target)};
  }
  if (absl::ConsumePrefix(&target, kIpv6)) {
    return Address{6, std::string(target)};
  }
  absl::ConsumePrefix(&target, kName);
  const size_t colon = target.rfind(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address of peer ", target, " has no port"));
  }
  return LookUp(std::string(target.substr(0, colon)),
                std::string(target.substr(colon + 1)));
}

// Turns "1.2.3.4:567" into "[::ffff:1.2.3.4]:567".
void MapToIpv6(Address& address) {
  if (address.ip_version == 6) return;
  const size_t colon = address.text.rfind(':');
  address.text = absl::StrCat("[::ffff:", address.text.substr(0, colon), "]",
                              address.text.substr(colon));
  address.ip_version = 6;
}

std::string Join(absl::string_view scheme,
                 const std::vector<Address>& addresses) {
  const auto append = [](std::string* out, const Address& address) {
    absl::StrAppend(out, address.text);
  };
  return absl::StrCat(scheme, absl::StrJoin(addresses, ",", append));
}

}  // namespace

std::string TargetOf(const std::string& host, int port) {
  const int version = IpVersionOf(host);
  const absl::string_view scheme =
      version == 4 ? kIpv4 : (version == 6 ? kIpv6 : kName);
  return absl::StrCat(scheme, base::JoinHostPort(host, port));
}

std::string HostPortOf(absl::string_view target) {
  for (absl::string_view scheme : {kIpv4, kIpv6, kName}) {
    if (absl::ConsumePrefix(&target, scheme)) break;
  }
  return std::string(target);
}

absl::StatusOr<std::string> JoinTargets(
    const std::vector<std::string>& targets) {
  std::vector<Address> addresses;
  for (const std::string& target : targets) {
    absl::StatusOr<Address> address = AddressOf(target);
    if (!address.ok()) return address.status();
    addresses.push_back(*std::move(address));
  }
  const auto all_are = [&](int ip_version) {
    return absl::c_all_of(addresses, [=](const Address& address) {
      return address.ip_version == ip_version;
    });
  };
  if (all_are(0)) return Join(kUnixScheme, addresses);
  if (all_are(4)) return Join(kIpv4, addresses);
  for (Address& address : addresses) {
    if (address.ip_version == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          kUnixScheme, address.text,
          " and an IP address cannot be servers of the same channel; let all "
          "of them use the same transport"));
    }
    MapToIpv6(address);
  }
  return Join(kIpv6, addresses);
}

}  // namespace distbench::protocol
