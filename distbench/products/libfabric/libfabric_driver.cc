// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/libfabric_driver.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/products/libfabric/declaration.h"
#include "distbench/products/libfabric/wire.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::libfabric {
namespace {

// Between two looks at connections that are being made.
constexpr absl::Duration kPause = absl::Microseconds(200);

std::vector<protocol::StreamPeer> TargetsOf(
    const std::vector<protocol::Peer>& peers) {
  std::vector<protocol::StreamPeer> targets;
  for (const protocol::Peer& peer : peers) {
    protocol::StreamPeer& target = targets.emplace_back();
    target.round_robin = peer.policy != config::kPickFirstPolicy;
    for (const std::string& address : peer.addresses) {
      target.servers.emplace_back().emplace_back().name = address;
    }
  }
  return targets;
}

}  // namespace

LibfabricDriver::LibfabricDriver(LibfabricSettings settings,
                                 protocol::AddressPreference preference,
                                 std::string service_address,
                                 std::string test_nonce, bool tls_is_wanted)
    : settings_(std::move(settings)),
      preference_(std::move(preference)),
      service_address_(std::move(service_address)),
      test_nonce_(std::move(test_nonce)),
      tls_is_wanted_(tls_is_wanted) {}

absl::StatusOr<std::string> LibfabricDriver::Listen(int worker_count) {
  if (tls_is_wanted_) {
    return absl::FailedPreconditionError(
        "the libfabric driver has no TLS, and this node uses TLS for its "
        "traffic; choose another driver, or start all nodes without TLS");
  }
  absl::StatusOr<std::string> host = ChooseHost();
  if (!host.ok()) return host.status();
  absl::StatusOr<std::unique_ptr<Fabric>> fabric =
      Fabric::Open(settings_.provider, settings_.endpoint_type(), *host);
  if (!fabric.ok()) return fabric.status();
  fabric_ = *std::move(fabric);
  // Clients with fewer workers than a server meet different ones of them.
  const auto first = absl::Uniform<uint32_t>(absl::BitGen());
  LibfabricAddress address = {.carrier = settings_.carrier()};
  for (int i = 0; i < worker_count; ++i) {
    absl::StatusOr<std::unique_ptr<Endpoint>> endpoint =
        Endpoint::Open(*fabric_, settings_);
    if (!endpoint.ok()) return endpoint.status();
    transports_.push_back(std::make_unique<LibfabricTransport>(
        settings_, test_nonce_, size_t{first} + static_cast<size_t>(i),
        counters_, *std::move(endpoint)));
    if (absl::Status opened = transports_.back()->Open(); !opened.ok()) {
      transports_.clear();
      return opened;
    }
    address.endpoints.push_back(transports_.back()->address());
  }
  return FormatAddress(address);
}

// Returns the address at which to listen, or "" if the provider has none.
absl::StatusOr<std::string> LibfabricDriver::ChooseHost() const {
  const absl::StatusOr<bool> has_host =
      UsesIpAddresses(settings_.provider, settings_.endpoint_type());
  if (!has_host.ok()) return has_host.status();
  if (!*has_host) {
    if (preference_.netdev.empty() && preference_.ip_version == 0) return "";
    return absl::InvalidArgumentError(absl::StrCat(
        "libfabric's provider \"", settings_.provider,
        "\" does not use IP addresses; remove netdev_name and ip_version"));
  }
  const auto interfaces = protocol::ListInterfaceAddresses();
  if (!interfaces.ok()) return interfaces.status();
  const auto address =
      protocol::ChooseListenAddress(*interfaces, preference_, service_address_);
  if (!address.ok()) return address.status();
  // An endpoint tells peers the address to which it is bound.
  return preference_.listen_address.empty() ? address->advertised_host
                                            : address->bind_host;
}

absl::Status LibfabricDriver::CheckPeers(
    const std::vector<protocol::Peer>& peers) const {
  for (const protocol::Peer& peer : peers) {
    for (const std::string& name : peer.addresses) {
      const absl::StatusOr<LibfabricAddress> address = ParseAddress(name);
      if (!address.ok()) return address.status();
      if (address->carrier != settings_.carrier()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "peer ", name, " uses libfabric's provider \"", address->carrier,
            "\", and this instance \"", settings_.carrier(),
            "\"; give both services the same settings \"", kProvider,
            "\" and \"", kEndpoint, "\""));
      }
      // The provider would keep using the memory of an endpoint that is gone.
      if (SharesMemory() &&
          Endpoint::IsInThisProcess(address->endpoints.front())) {
        return absl::FailedPreconditionError(
            absl::StrCat("peer ", name,
                         " is in the same process, and libfabric's provider \"",
                         settings_.provider,
                         "\" connects processes only; use the provider tcp"));
      }
    }
  }
  return absl::OkStatus();
}

bool LibfabricDriver::SharesMemory() const {
  return absl::StrContains(settings_.provider, "shm");
}

absl::Status LibfabricDriver::Connect(const std::vector<protocol::Peer>& peers,
                                      absl::Time deadline) {
  absl::Status status = CheckPeers(peers);
  if (!status.ok()) return status;
  for (const auto& transport : transports_) {
    transport->SetPeers(TargetsOf(peers));
  }
  status = AwaitConnections(deadline);
  for (const auto& transport : transports_) transport->Settle();
  return status;
}

absl::Status LibfabricDriver::AwaitConnections(absl::Time deadline) {
  bool gave_up = false;
  while (true) {
    bool is_over = true;
    for (const auto& transport : transports_) {
      is_over &= transport->ContinueConnecting();
    }
    if (is_over) break;
    const bool is_late = connect_aborted_ || absl::Now() >= deadline;
    if (is_late && !std::exchange(gave_up, true)) {
      for (const auto& transport : transports_) transport->GiveUpConnecting();
    }
    absl::SleepFor(kPause);
  }
  protocol::FailureList failures;
  for (const auto& transport : transports_) {
    for (const std::string& failure : transport->TakeFailures()) {
      failures.Add(failure);
    }
  }
  if (connect_aborted_ && gave_up) {
    return absl::CancelledError("connecting was aborted");
  }
  if (failures.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot connect to ", failures.ToString()));
}

void LibfabricDriver::Shutdown() {
  if (shut_down_) return;
  shut_down_ = true;
  for (const auto& transport : transports_) transport->BeginShutdown();
  for (const auto& transport : transports_) transport->WaitUntilDrained();
}

}  // namespace distbench::libfabric
