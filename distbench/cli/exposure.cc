// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/exposure.h"

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/protocol/addresses.h"

namespace distbench::cli {

absl::StatusOr<std::string> AddressOrDevice(const std::string& text) {
  if (text.empty()) return text;
  const absl::StatusOr<std::vector<protocol::InterfaceAddress>> devices =
      protocol::ListInterfaceAddresses();
  if (!devices.ok()) return text;  // then it can only be an address
  return AddressOrDevice(text, *devices);
}

absl::StatusOr<std::string> AddressOfDevice(const std::string& device) {
  const absl::StatusOr<std::vector<protocol::InterfaceAddress>> devices =
      protocol::ListInterfaceAddresses();
  if (!devices.ok()) return devices.status();
  return AddressOfDevice(device, *devices);
}

absl::StatusOr<std::string> AddressOfDevice(
    const std::string& device,
    absl::Span<const protocol::InterfaceAddress> devices) {
  absl::StatusOr<std::string> address =
      protocol::ChooseHostAddress(devices, {.netdev = device});
  if (address.ok()) return address;
  return absl::NotFoundError(absl::StrCat(
      "this host has no network device \"", device,
      "\" with an address that others can use; it has ",
      absl::StrJoin(devices, ", ", [](std::string* out, const auto& each) {
        absl::StrAppend(out, each.interface_name, " (", each.ip, ")");
      })));
}

absl::StatusOr<std::string> AddressOrDevice(
    const std::string& text,
    absl::Span<const protocol::InterfaceAddress> devices) {
  const bool is_device =
      std::any_of(devices.begin(), devices.end(),
                  [&text](const protocol::InterfaceAddress& each) {
                    return each.interface_name == text;
                  });
  if (!is_device) return text;
  return AddressOfDevice(text, devices);
}

namespace {

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address == "[::1]" ||
         absl::StartsWith(address, "127.");
}

// Returns the addresses to which others can connect, such as "10.0.0.7,
// 10.0.1.7".
std::string Addresses(const std::string& listen) {
  if (!listen.empty()) return listen;
  std::vector<std::string> found;
  const auto interfaces = protocol::ListInterfaceAddresses();
  if (interfaces.ok()) {
    for (const protocol::InterfaceAddress& address : *interfaces) {
      if (!IsLoopback(address.ip)) found.push_back(address.ip);
    }
  }
  return found.empty() ? "this host" : absl::StrJoin(found, ", ");
}

std::string Only(const std::vector<std::string>& names) {
  if (names.empty()) return "any name";
  return absl::StrCat("the name ", absl::StrJoin(names, " or "));
}

}  // namespace

std::string WhoReaches(const std::string& listen) {
  return IsLoopback(listen)
             ? "Every user of this machine"
             : absl::StrCat("Anybody who can reach ", Addresses(listen));
}

std::string SequencerExposure(const std::string& listen,
                              const security::TlsFiles& tls,
                              const security::AccessRules& access) {
  if (!tls.ca.empty()) {
    return absl::StrCat("TLS: certificates must be signed by ", tls.ca,
                        ", and must have ", Only(access.submit),
                        " to submit tests and ", Only(access.node),
                        " to be a node");
  }
  const std::string who = WhoReaches(listen);
  if (!tls.empty()) {
    return absl::StrCat(who,
                        " can submit tests and be a node: TLS encrypts, "
                        "but without --tls_ca no certificate is required");
  }
  return absl::StrCat(
      who, " can submit tests and be a node: there is no TLS",
      IsLoopback(listen) ? "" : " (--listen restricts, --tls_* protects)");
}

std::string NodeExposure(const std::string& listen,
                         const std::string& service_address,
                         const security::TlsFiles& tls) {
  if (!tls.empty()) {
    return absl::StrCat(
        "TLS: while a test runs, its services here accept only peers with a "
        "certificate signed by ",
        tls.ca);
  }
  const std::string address =
      listen.empty() && IsLoopback(service_address) ? service_address : listen;
  if (IsLoopback(address)) {
    return "While a test runs, every user of this machine can reach its "
           "services here: there is no TLS";
  }
  return absl::StrCat("While a test runs, anybody who can reach ",
                      Addresses(listen),
                      " can reach its services here: there is no TLS "
                      "(--listen restricts, --tls_* protects)");
}

}  // namespace distbench::cli
