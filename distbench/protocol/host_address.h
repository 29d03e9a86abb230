// Which address of a host a service listens on and tells its peers.

#ifndef DISTBENCH_PROTOCOL_HOST_ADDRESS_H_
#define DISTBENCH_PROTOCOL_HOST_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench {

// One address of one network interface.
struct InterfaceAddress {
  std::string interface_name;
  std::string ip;  // numeric, without brackets
};

// Addresses of all interfaces that are up.
absl::StatusOr<std::vector<InterfaceAddress>> ListInterfaceAddresses();

// What restricts the choice.
struct AddressPreference {
  std::string netdev{};  // only this interface; empty: any
  int ip_version = 0;    // 4 or 6: only this family; 0: either, rather IPv6
  std::string listen_address{};  // listen here only; empty: see below
};

// The best of `candidates`: rather not loopback, then rather of the preferred
// family and rather private; the first of equals. Link-local addresses are
// never chosen: peers would need to know the interface as well. The error says
// what was looked for and what there is.
absl::StatusOr<std::string> ChooseHostAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference);

// Where to listen, and what peers are told of it.
struct ListenAddress {
  std::string bind_host;        // numeric, or "localhost"
  std::string advertised_host;  // numeric or a name
};

// As ChooseHostAddress(), unless `service_address` (a name or a number, in
// brackets or not) is given: that is advertised then, and the service listens
// on all of the host's addresses, or on netdev's if that is set. If
// service_address is of the loopback interface, it listens there only. A
// preference.listen_address is bound to in any case, and advertised unless
// there is a service_address.
absl::StatusOr<ListenAddress> ChooseListenAddress(
    absl::Span<const InterfaceAddress> candidates,
    const AddressPreference& preference, absl::string_view service_address);

// 4 or 6 if `host` is a numeric address of that family, else 0.
int IpVersionOf(absl::string_view host);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_HOST_ADDRESS_H_
