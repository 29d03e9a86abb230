// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/name_resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/base/lookup.h"
#include "distbench/base/text_scanner.h"
#include "distbench/protocol/addresses.h"

namespace distbench::external {
namespace {

constexpr int kIpv4Bits = 32;
constexpr int kIpv6Bits = 128;

// Reads an IP address. Returns how many bits its family has, or 0.
int ParseIp(const std::string& text, std::array<uint8_t, 16>& ip) {
  if (inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return kIpv6Bits;
  ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return inet_pton(AF_INET, text.c_str(), ip.data() + 12) == 1 ? kIpv4Bits : 0;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ResolveBySystem(
    const std::string& host) {
  const absl::StatusOr<base::AddressList> found =
      base::LookUp(host, /*port=*/"", AI_ADDRCONFIG);
  if (!found.ok()) return found.status();
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found->get(); entry != nullptr;
       entry = entry->ai_next) {
    std::string ip = protocol::IpOf(*entry->ai_addr);
    if (!ip.empty()) addresses.push_back(std::move(ip));
  }
  if (addresses.empty()) return absl::NotFoundError("it has no IP address");
  return addresses;
}

std::optional<AddressRange> AddressRange::Parse(absl::string_view text) {
  const auto [host, port_text] = base::SplitHostPort(text);
  const std::optional<int64_t> port =
      base::ParseWhole(port_text, base::kMaxPort);
  if (!port || *port == 0) return std::nullopt;
  AddressRange range;
  range.port_ = static_cast<int>(*port);
  const size_t slash = host.find('/');
  const int family_bits = ParseIp(host.substr(0, slash), range.first_);
  if (family_bits == 0) return std::nullopt;
  const std::optional<int64_t> bits =
      slash == std::string::npos
          ? family_bits
          : base::ParseWhole(absl::string_view(host).substr(slash + 1),
                             family_bits);
  if (!bits) return std::nullopt;
  range.bits_ = kIpv6Bits - family_bits + static_cast<int>(*bits);
  return range;
}

bool AddressRange::Contains(const AddressRange& other) const {
  if (port_ != other.port_ || bits_ > other.bits_) return false;
  const int whole_bytes = bits_ / 8;
  if (!std::equal(first_.begin(), first_.begin() + whole_bytes,
                  other.first_.begin())) {
    return false;
  }
  const int rest = bits_ % 8;
  if (rest == 0) return true;
  return (first_[whole_bytes] ^ other.first_[whole_bytes]) >> (8 - rest) == 0;
}

}  // namespace distbench::external
