// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The addresses of a name, and ranges of addresses.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_NAME_RESOLVER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_NAME_RESOLVER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::external {

// Returns the IP addresses of a host, without brackets; at least one. May block
// for as long as name servers do not answer. The error says why there are none.
using NameResolver = std::function<absl::StatusOr<std::vector<std::string>>(
    const std::string& host)>;

// Asks the host's own resolver: /etc/hosts, name servers, whatever it is
// configured for. Addresses of a family that the host does not have are left
// out.
absl::StatusOr<std::vector<std::string>> ResolveBySystem(
    const std::string& host);

// IP addresses with the same first bits, and a port.
class AddressRange {
 public:
  // Parses "1.2.3.4:567", "[1::2]:567", "1.2.3.0/24:567" or "[1::/64]:567".
  // Nothing if the text is none of these, such as for a name.
  static std::optional<AddressRange> Parse(absl::string_view text);

  // Whether this has everything that `other` has.
  bool Contains(const AddressRange& other) const;

  // How many of an address's 128 bits are the same for all.
  int bits() const { return bits_; }

 private:
  // IPv4 addresses are kept as IPv6 ones.
  std::array<uint8_t, 16> first_ = {};
  int bits_ = 0;
  int port_ = 0;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_NAME_RESOLVER_H_
