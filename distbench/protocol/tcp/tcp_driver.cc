#include "distbench/protocol/tcp/tcp_driver.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/socket.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Moves one peer's share of `targets`, which are in the order of the loops here,
// out of them.
TcpPeer TakePeer(size_t server_count, int64_t connections,
                 std::vector<DialTarget>::iterator& next) {
  TcpPeer peer;
  peer.servers.resize(server_count);
  for (std::vector<DialTarget>& server : peer.servers) {
    for (int64_t i = 0; i < connections; ++i) {
      server.push_back(std::move(*next++));
    }
  }
  return peer;
}

}  // namespace

TcpDriver::TcpDriver(const TcpSettings& settings, AddressPreference preference,
                     std::string service_address)
    : settings_(settings),
      preference_(std::move(preference)),
      service_address_(std::move(service_address)) {}

TcpDriver::~TcpDriver() {
  const std::string trouble = counters_.ToString();
  LOG_IF(WARNING, !trouble.empty()) << "tcp driver: " << trouble;
}

absl::StatusOr<std::string> TcpDriver::Listen(int worker_count) {
  const auto interfaces = ListInterfaceAddresses();
  if (!interfaces.ok()) return interfaces.status();
  const auto address =
      ChooseListenAddress(*interfaces, preference_, service_address_);
  if (!address.ok()) return address.status();
  absl::StatusOr<Listener> listener = ListenOn(address->bind_host);
  if (!listener.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "can not listen on ", address->bind_host, ": ",
        listener.status().message(),
        "; check that it is an address of this host (netdev_name, ip_version, "
        "--service_address) and that ports are left"));
  }
  for (int i = 0; i < worker_count; ++i) {
    transports_.push_back(
        std::make_unique<TcpTransport>(settings_, counters_));
  }
  transports_.front()->Accept(
      std::move(listener->socket), [this](FileDescriptor socket) {
        transports_[next_transport_++ % transports_.size()]->Serve(
            std::move(socket));
      });
  return JoinHostPort(address->advertised_host, listener->port);
}

absl::Status TcpDriver::Connect(const std::vector<std::string>& peer_addresses,
                                absl::Time deadline) {
  std::vector<std::vector<SocketAddress>> resolved;
  for (const std::string& address : peer_addresses) {
    auto addresses = ResolveAddress(address);
    if (!addresses.ok()) return addresses.status();
    resolved.push_back(*std::move(addresses));
  }
  std::vector<DialTarget> targets;
  for (size_t worker = 0; worker < transports_.size(); ++worker) {
    for (size_t i = 0; i < peer_addresses.size(); ++i) {
      for (int64_t j = 0; j < settings_.connections; ++j) {
        targets.push_back(
            {.name = peer_addresses[i], .addresses = resolved[i]});
      }
    }
  }
  const absl::Status status = DialAll(absl::MakeSpan(targets), deadline);
  if (!status.ok()) return status;
  auto next = targets.begin();
  for (const auto& transport : transports_) {
    std::vector<TcpPeer> peers;
    for (size_t i = 0; i < peer_addresses.size(); ++i) {
      peers.push_back(TakePeer(1, settings_.connections, next));
    }
    transport->SetPeers(std::move(peers));
  }
  return absl::OkStatus();
}

void TcpDriver::Shutdown() {
  if (shut_down_) return;
  shut_down_ = true;
  for (const auto& transport : transports_) transport->BeginShutdown();
  for (const auto& transport : transports_) transport->WaitUntilDrained();
}

}  // namespace distbench
