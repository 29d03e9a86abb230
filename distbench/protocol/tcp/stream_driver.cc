// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream_driver.h"

#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/base/listen_address.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/wire_time.h"
#include "distbench/security/tls_session.h"

namespace distbench::protocol {
namespace {

using AddressMap = absl::flat_hash_map<std::string, std::vector<SocketAddress>>;

// Resolves the addresses of the peers, each only once.
absl::StatusOr<AddressMap> ResolveAll(const std::vector<Peer>& peers) {
  AddressMap resolved;
  for (const Peer& peer : peers) {
    for (const std::string& address : peer.addresses) {
      if (resolved.contains(address)) continue;
      auto addresses = ResolveAddress(address);
      if (!addresses.ok()) return addresses.status();
      resolved[address] = *std::move(addresses);
    }
  }
  return resolved;
}

// Adds the connections of one transport, server by server.
void AddTargets(const std::vector<Peer>& peers, const AddressMap& resolved,
                int64_t connections, std::vector<DialTarget>& targets) {
  for (const Peer& peer : peers) {
    for (const std::string& address : peer.addresses) {
      for (int64_t i = 0; i < connections; ++i) {
        targets.push_back({.name = address, .addresses = resolved.at(address)});
      }
    }
  }
}

// Takes the connections of one transport, in the order of AddTargets().
std::vector<StreamPeer> TakePeers(const std::vector<Peer>& peers,
                                  int64_t connections,
                                  std::vector<DialTarget>::iterator& next) {
  std::vector<StreamPeer> taken;
  for (const Peer& peer : peers) {
    StreamPeer& stream_peer = taken.emplace_back();
    stream_peer.round_robin = peer.policy != config::kPickFirstPolicy;
    stream_peer.servers.resize(peer.addresses.size());
    for (std::vector<DialTarget>& server : stream_peer.servers) {
      for (int64_t i = 0; i < connections; ++i) {
        server.push_back(std::move(*next++));
      }
    }
  }
  return taken;
}

}  // namespace

absl::StatusOr<ConnectionSecurity> SecurityOf(
    const config::DriverOptions& options, const DriverEnvironment& environment,
    absl::string_view protocol) {
  ConnectionSecurity security = {
      .test_nonce = environment.test_nonce,
      .network = std::make_shared<DriverNetwork>(
          ReadNetworkSettings(options.client_settings),
          ReadNetworkSettings(options.server_settings)),
      .wire_time = environment.wire_time};
  if (environment.tls != nullptr) {
    auto context = security::TlsContext::Make(
        environment.tls->files(), security::TlsRole::kNode, protocol);
    if (!context.ok()) return context.status();
    security.tls = *std::move(context);
  }
  return security;
}

StreamDriver::StreamDriver(int64_t connections, bool uses_unix_socket,
                           AddressPreference preference,
                           std::string service_address,
                           ConnectionSecurity security)
    : connections_(connections),
      uses_unix_socket_(uses_unix_socket),
      preference_(std::move(preference)),
      service_address_(std::move(service_address)),
      security_(std::move(security)) {}

absl::StatusOr<std::string> StreamDriver::Listen(int worker_count) {
  const absl::Status network =
      security_.network->Check(uses_unix_socket_ ? AF_UNIX : AF_INET,
                               /*uses_tls=*/security_.tls != nullptr);
  if (!network.ok()) return network;
  if (security_.wire_time.share > 0) receive_stamping_.emplace();
  absl::StatusOr<Listening> listening =
      uses_unix_socket_ ? ListenAtUnixSocket() : ListenAtHost();
  if (!listening.ok()) return listening.status();
  const absl::Status opened =
      OpenTransports(worker_count, std::move(listening->socket));
  if (opened.ok()) return listening->address;
  transports_.clear();
  return opened;
}

absl::Status StreamDriver::OpenTransports(int count,
                                          base::FileDescriptor listener) {
  for (int i = 0; i < count; ++i) {
    transports_.push_back(MakeTransport());
    absl::Status opened = transports_.back()->Open();
    if (!opened.ok()) return opened;
  }
  return transports_.front()->Accept(
      std::move(listener),
      [this](base::FileDescriptor socket) { Serve(std::move(socket)); });
}

// A connection that does not have the settings, although its listener has them,
// is not refused: it is among the readings.
void StreamDriver::Serve(base::FileDescriptor socket) {
  constexpr auto kServer = DriverNetwork::Side::kServer;
  ApplyNetworkSettings(security_.network->settings(kServer), socket.get())
      .IgnoreError();
  security_.network->Admit(kServer, socket.get()).IgnoreError();
  transports_[next_transport_++ % transports_.size()]->Serve(std::move(socket));
}

absl::StatusOr<StreamDriver::Listening> StreamDriver::ListenAtHost() const {
  const auto interfaces = ListInterfaceAddresses();
  if (!interfaces.ok()) return interfaces.status();
  const auto address =
      ChooseListenAddress(*interfaces, preference_, service_address_);
  if (!address.ok()) return address.status();
  const NetworkSettings& settings =
      security_.network->settings(DriverNetwork::Side::kServer);
  absl::Status applied;
  absl::StatusOr<base::ListeningSocket> listener = base::ListenAt(
      base::JoinHostPort(address->bind_host, 0),
      [&](int fd) { applied = ApplyNetworkSettings(settings, fd); },
      ProtocolOf(settings));
  if (!applied.ok()) return applied;
  if (!listener.ok()) {
    return absl::UnavailableError(absl::StrCat(
        listener.status().message(),
        "; check that it is an address of this host (netdev_name, ip_version, "
        "--service_address) and that ports are left"));
  }
  return Listening{
      .socket = std::move(listener->socket),
      .address = AnnounceTls(
          base::JoinHostPort(address->advertised_host, listener->port),
          security_.tls != nullptr)};
}

absl::StatusOr<StreamDriver::Listening> StreamDriver::ListenAtUnixSocket()
    const {
  absl::StatusOr<std::string> address =
      NewUnixAddress(/*uses_tls=*/security_.tls != nullptr);
  if (!address.ok()) return address.status();
  absl::StatusOr<base::FileDescriptor> socket = ListenAtUnixAddress(*address);
  if (!socket.ok()) return socket.status();
  return Listening{.socket = *std::move(socket),
                   .address = *std::move(address)};
}

absl::Status StreamDriver::Connect(const std::vector<Peer>& announced,
                                   absl::Time deadline) {
  const absl::StatusOr<std::vector<Peer>> dialled =
      PeersToDial(announced, security_.tls != nullptr);
  if (!dialled.ok()) return dialled.status();
  const std::vector<Peer>& peers = *dialled;
  if (receive_stamping_.has_value() && !peers.empty()) {
    receive_stamping_->Await();
  }
  const absl::StatusOr<AddressMap> resolved = ResolveAll(peers);
  if (!resolved.ok()) return resolved.status();
  std::vector<DialTarget> targets;
  for (size_t i = 0; i < transports_.size(); ++i) {
    AddTargets(peers, *resolved, connections_, targets);
  }
  absl::Status status =
      DialAll(absl::MakeSpan(targets), security_, deadline, connect_aborted_,
              [this](DialTarget& target) { SayHello(target); });
  if (status.ok()) {
    status = Verify(absl::MakeSpan(targets), deadline, connect_aborted_);
  }
  for (auto target = targets.begin(); status.ok() && target != targets.end();
       ++target) {
    if (target->stream.stamps() == nullptr) continue;
    status = CheckStamps(*target->stream.stamps(), target->stream.fd(),
                         security_.wire_time.clock);
  }
  if (!status.ok()) return status;
  auto next = targets.begin();
  for (const auto& transport : transports_) {
    transport->SetPeers(TakePeers(peers, connections_, next));
  }
  return absl::OkStatus();
}

void StreamDriver::Shutdown() {
  if (shut_down_) return;
  shut_down_ = true;
  for (const auto& transport : transports_) transport->BeginShutdown();
  for (const auto& transport : transports_) transport->WaitUntilDrained();
}

}  // namespace distbench::protocol
