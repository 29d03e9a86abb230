// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where services listen, and what their peers are told of it.

#ifndef DISTBENCH_PROTOCOL_ADDRESSES_H_
#define DISTBENCH_PROTOCOL_ADDRESSES_H_

#include <sys/socket.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::protocol {

// Chooses the address on which a service listens and the one it tells peers.

// An address of a network interface.
struct InterfaceAddress {
  std::string interface_name;
  std::string ip;  // numeric, without brackets
};

// Returns the numeric IP address in a socket address, as in InterfaceAddress;
// empty if it has none.
std::string IpOf(const sockaddr& address);

// Returns the addresses of all interfaces that are up.
absl::StatusOr<std::vector<InterfaceAddress>> ListInterfaceAddresses();

// Restrictions on the choice of an address.
struct AddressPreference {
  std::string netdev{};  // only this interface; empty: any
  int ip_version = 0;    // 4 or 6: only this family; 0: either, IPv6 first
  std::string listen_address{};  // listen here only; empty: see below
};

// Returns the best of `candidates`. It prefers addresses that are not loopback,
// then the preferred family and private ranges, then the order of the
// candidates. It never chooses link-local addresses, because peers would need
// to know the interface as well. The error says what was looked for and what
// there is.
absl::StatusOr<std::string> ChooseHostAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference);

// The error of ChooseHostAddress() if `netdev` is not among the devices of a
// host whose addresses are not known.
absl::Status CheckDevice(const std::string& netdev,
                         absl::Span<const std::string> devices);

// The address to listen on, and the one to tell peers.
struct ListenAddress {
  std::string bind_host;        // numeric, or "localhost"
  std::string advertised_host;  // numeric or a name
};

// As ChooseHostAddress(), unless `service_address` (a name or a numeric
// address, with or without brackets) is given. That is then advertised, and the
// service listens on all of the host's addresses, or on netdev's if that is
// set, or on loopback only if service_address is a loopback address. If
// preference.listen_address is set, the service always listens there, and
// advertises it unless service_address is given.
absl::StatusOr<ListenAddress> ChooseListenAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference, absl::string_view service_address);

// 4 or 6 if `host` is a numeric address of that family, else 0.
int IpVersionOf(absl::string_view host);

// Addresses of Unix sockets, for drivers whose setting "transport" is "unix".
//
// The sockets are abstract: they are names within a network namespace, not
// files, and vanish with the process that listens. An address says to which
// host it belongs, so that a client elsewhere fails at once and knows why.
// Anybody on the host can connect, as to a loopback port.

// Begins an address, which is "unix-abstract:NAME" as in gRPC. NAME follows a
// NUL in the socket's address, and fits into it.
inline constexpr char kUnixScheme[] = "unix-abstract:";

bool IsUnixAddress(absl::string_view address);

// Returns an address at which nothing listens yet. The error says that the
// setting cannot be combined with TLS, which Unix sockets do not use, or that
// the host cannot be identified.
absl::StatusOr<std::string> NewUnixAddress(bool uses_tls);

// Returns an error if the Unix socket belongs to another host.
absl::Status CheckIsOfThisHost(absl::string_view unix_address);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_ADDRESSES_H_
