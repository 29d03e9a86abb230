// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/data_connections.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "distbench/base/host_port.h"
#include "distbench/base/time_units.h"
#include "distbench/node/netlink.h"

namespace distbench::node {
namespace {

// The kernel's numbers of states, which linux/tcp.h lacks. A connection that
// has not been set up, and one that has ended, have nothing to tell.
enum TcpState {
  kEstablished = 1,
  kFinWait1 = 4,
  kFinWait2 = 5,
  kCloseWait = 8,
  kLastAck = 9,
  kClosing = 11,
};
constexpr uint32_t kStates = 1 << kEstablished | 1 << kFinWait1 |
                             1 << kFinWait2 | 1 << kCloseWait | 1 << kLastAck |
                             1 << kClosing;

constexpr size_t kIpv4Bytes = 4;
constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0,    0,
                                                   0, 0, 0, 0, 0xff, 0xff};

TcpAddress MakeAddress(int family, const uint32_t (&words)[4],
                       uint16_t network_port) {
  TcpAddress address{.is_ipv6 = family == AF_INET6,
                     .port = ntohs(network_port)};
  std::memcpy(address.bytes.data(), words, sizeof(words));
  if (address.is_ipv6 && std::equal(kMappedPrefix.begin(), kMappedPrefix.end(),
                                    address.bytes.begin())) {
    address.is_ipv6 = false;
    std::copy(address.bytes.end() - kIpv4Bytes, address.bytes.end(),
              address.bytes.begin());
  }
  return address;
}

// The smoothed round trip time; 0 before the first measurement.
int64_t RttNs(const TcpSocket& socket) {
  return socket.info.tcpi_rtt * base::kNsPerUs;
}

absl::Status ListFamily(int family, std::vector<TcpSocket>& sockets) {
  inet_diag_req_v2 request{};
  request.sdiag_family = family;
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
  request.idiag_states = kStates;
  return DumpNetlink(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, BytesOf(request),
                     [&](absl::string_view message) {
                       if (auto socket = ParseTcpSocket(message)) {
                         sockets.push_back(*std::move(socket));
                       }
                     });
}

}  // namespace

std::string TcpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof(text));
  return base::JoinHostPort(text, port);
}

absl::StatusOr<std::vector<TcpSocket>> ListTcpSockets() {
  std::vector<TcpSocket> sockets;
  absl::Status status = ListFamily(AF_INET, sockets);
  if (!status.ok()) return status;
  // A kernel without IPv6 refuses.
  status = ListFamily(AF_INET6, sockets);
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return sockets;
}

std::optional<TcpSocket> ParseTcpSocket(absl::string_view message) {
  const auto header = ConsumeStruct<inet_diag_msg>(message);
  if (!header) return std::nullopt;
  const inet_diag_sockid& id = header->id;
  TcpSocket socket{
      .cookie = uint64_t{id.idiag_cookie[1]} << 32 | id.idiag_cookie[0],
      .inode = header->idiag_inode,
      .local = MakeAddress(header->idiag_family, id.idiag_src, id.idiag_sport),
      .peer = MakeAddress(header->idiag_family, id.idiag_dst, id.idiag_dport)};
  bool has_info = false;
  ForEachAttribute(message, [&](uint16_t type, absl::string_view value) {
    if (type == INET_DIAG_INFO) {
      has_info = true;
      // Kernels differ in how much of it they know.
      std::memcpy(&socket.info, value.data(),
                  std::min(value.size(), sizeof(socket.info)));
    } else if (type == INET_DIAG_CONG) {
      socket.congestion_control =
          std::string(value.substr(0, value.find('\0')));
    }
  });
  if (!has_info) return std::nullopt;
  return socket;
}

namespace {

// How much longer than a sample's CPU time the time to the next one is.
constexpr int64_t kLeastPause = 100;

// Searches after which a socket belongs to another program.
constexpr int kEnoughSearches = 2;

}  // namespace

void DataConnectionWatch::Start() {
  connections_.clear();
  ended_.clear();
  omitted_count_ = 0;
  next_sample_ns_ = 0;
  Read();
}

std::optional<DataConnections> DataConnectionWatch::Sample() {
  const int64_t now_ns = options_.clock->MonotonicNs();
  if (now_ns < next_sample_ns_) return std::nullopt;
  const int64_t cpu_start_ns = options_.cpu_time_ns();
  std::optional<DataConnections> sum = Read();
  const int64_t cpu_ns = options_.cpu_time_ns() - cpu_start_ns;
  next_sample_ns_ = now_ns + kLeastPause * cpu_ns;
  if (kLeastPause * cpu_ns > base::kNsPerSecond) {
    LOG_FIRST_N(INFO, 1) << "a sample of " << connections_.size()
                         << " data connections took " << cpu_ns / base::kNsPerMs
                         << " ms; there will be fewer than one a second";
  }
  return sum;
}

void DataConnectionWatch::Finish(NodeResources& resources) {
  Read();
  std::vector<Connection> all = ended_;
  for (const auto& [cookie, connection] : connections_) {
    all.push_back(connection);
  }
  KeepWorst(options_.max_described, all);
  std::sort(all.begin(), all.end(), IsWorse);
  for (const Connection& connection : all) {
    *resources.add_data_connections() = Describe(connection);
  }
  if (omitted_count_ > 0) {
    resources.set_omitted_data_connections(omitted_count_);
  }
}

std::optional<DataConnections> DataConnectionWatch::Read() {
  const EngineProcesses engines = options_.engines();
  if (engines.empty()) return std::nullopt;
  const absl::StatusOr<std::vector<TcpSocket>> sockets =
      options_.list_sockets();
  if (!sockets.ok()) {
    LOG_FIRST_N(WARNING, 1)
        << "results will not describe data connections: the kernel does not "
           "list TCP sockets ("
        << sockets.status().message()
        << "); it needs the module tcp_diag, and a sandbox must allow "
           "NETLINK_SOCK_DIAG";
    return std::nullopt;
  }
  FindOwners(engines, *sockets);
  ++reading_;
  DataConnections sum;
  sum.set_connection_count(0);
  int64_t rtt_sum_ns = 0;
  int64_t rtt_count = 0;
  for (const TcpSocket& socket : *sockets) {
    Connection* const connection = FindConnection(socket);
    // The kernel may list a socket twice while others come and go.
    if (connection == nullptr || connection->last_reading == reading_) continue;
    Add(socket, *connection, sum);
    connection->last_reading = reading_;
    rtt_sum_ns += RttNs(socket);
    rtt_count += RttNs(socket) > 0;
  }
  RememberEnded();
  if (rtt_count > 0) sum.set_mean_rtt_ns(rtt_sum_ns / rtt_count);
  return sum;
}

// ---- Whose a socket is ------------------------------------------------------

void DataConnectionWatch::FindOwners(const EngineProcesses& engines,
                                     const std::vector<TcpSocket>& sockets) {
  const bool has_news = std::any_of(
      sockets.begin(), sockets.end(),
      [this](const TcpSocket& socket) { return MayBelongToEngine(socket); });
  if (!has_news) return;
  owners_.clear();
  for (const auto& [pid, instances] : engines) {
    for (const uint32_t inode : ReadSocketInodes(options_.root, pid)) {
      owners_[inode] = instances.size() == 1 ? instances[0] : "";
    }
  }
  absl::flat_hash_map<uint32_t, int> strangers;
  for (const TcpSocket& socket : sockets) {
    if (owners_.contains(socket.inode)) continue;
    strangers[socket.inode] = strangers_[socket.inode] + 1;
  }
  strangers_ = std::move(strangers);
}

bool DataConnectionWatch::MayBelongToEngine(const TcpSocket& socket) const {
  if (socket.inode == 0 || owners_.contains(socket.inode)) return false;
  const auto searches = strangers_.find(socket.inode);
  return searches == strangers_.end() || searches->second < kEnoughSearches;
}

DataConnectionWatch::Connection* DataConnectionWatch::FindConnection(
    const TcpSocket& socket) {
  if (const auto known = connections_.find(socket.cookie);
      known != connections_.end()) {
    return &known->second;
  }
  const auto owner = owners_.find(socket.inode);
  if (owner == owners_.end()) return nullptr;
  Connection& connection = connections_[socket.cookie];
  if (!owner->second.empty()) connection.proto.set_instance(owner->second);
  return &connection;
}

// ---- Connections ------------------------------------------------------------

void DataConnectionWatch::Add(const TcpSocket& socket, Connection& connection,
                              DataConnections& sum) {
  // Differences modulo 2^32 are right although the counters wrap around.
  const tcp_info& info = socket.info;
  const tcp_info& last = connection.socket.info;
  const uint32_t sent = info.tcpi_segs_out - last.tcpi_segs_out;
  const uint32_t retransmitted =
      info.tcpi_total_retrans - last.tcpi_total_retrans;
  const uint32_t marked = info.tcpi_delivered_ce - last.tcpi_delivered_ce;
  const auto add_to = [&](auto& counts) {
    counts.set_sent_segments(counts.sent_segments() + sent);
    counts.set_retransmitted_segments(counts.retransmitted_segments() +
                                      retransmitted);
    counts.set_congestion_marked_segments(counts.congestion_marked_segments() +
                                          marked);
  };
  DataConnection& proto = connection.proto;
  add_to(proto);
  const int64_t rtt_ns = RttNs(socket);
  if (rtt_ns > 0) {
    connection.rtt_sum_ns += rtt_ns;
    ++connection.rtt_count;
    proto.set_max_rtt_ns(std::max(proto.max_rtt_ns(), rtt_ns));
  }
  const auto window = static_cast<int32_t>(info.tcpi_snd_cwnd);
  proto.set_min_congestion_window(
      proto.has_min_congestion_window()
          ? std::min(proto.min_congestion_window(), window)
          : window);
  proto.set_max_congestion_window(
      std::max(proto.max_congestion_window(), window));
  proto.set_max_delivery_rate(
      std::max(proto.max_delivery_rate(),
               static_cast<int64_t>(info.tcpi_delivery_rate)));
  connection.socket = socket;

  sum.set_connection_count(sum.connection_count() + 1);
  add_to(sum);
  sum.set_max_rtt_ns(std::max(sum.max_rtt_ns(), rtt_ns));
}

void DataConnectionWatch::RememberEnded() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    const auto connection = it++;
    if (connection->second.last_reading == reading_) continue;
    ended_.push_back(std::move(connection->second));
    connections_.erase(connection);
  }
  if (ended_.size() > 2 * options_.max_described) {
    KeepWorst(options_.max_described, ended_);
  }
}

void DataConnectionWatch::KeepWorst(size_t count,
                                    std::vector<Connection>& connections) {
  if (connections.size() <= count) return;
  std::nth_element(connections.begin(), connections.begin() + count,
                   connections.end(), IsWorse);
  omitted_count_ += connections.size() - count;
  connections.erase(connections.begin() + count, connections.end());
}

bool DataConnectionWatch::IsWorse(const Connection& a, const Connection& b) {
  const auto key = [](const Connection& connection) {
    const TcpSocket& socket = connection.socket;
    return std::tie(connection.proto.instance(), socket.local.bytes,
                    socket.local.port, socket.peer.bytes, socket.peer.port,
                    socket.cookie);
  };
  const int64_t of_a = a.proto.retransmitted_segments();
  const int64_t of_b = b.proto.retransmitted_segments();
  if (of_a != of_b) return of_a > of_b;
  return key(a) < key(b);
}

DataConnection DataConnectionWatch::Describe(const Connection& connection) {
  const TcpSocket& socket = connection.socket;
  DataConnection proto = connection.proto;
  proto.set_local_address(socket.local.ToString());
  proto.set_peer_address(socket.peer.ToString());
  if (!socket.congestion_control.empty()) {
    proto.set_congestion_control(socket.congestion_control);
  }
  proto.set_uses_ecn((socket.info.tcpi_options & TCPI_OPT_ECN) != 0);
  // All ones before the first measurement.
  const uint32_t min_rtt_us = socket.info.tcpi_min_rtt;
  if (min_rtt_us > 0 && min_rtt_us != ~uint32_t{0}) {
    proto.set_min_rtt_ns(min_rtt_us * base::kNsPerUs);
  }
  if (connection.rtt_count > 0) {
    proto.set_mean_rtt_ns(connection.rtt_sum_ns / connection.rtt_count);
  }
  return proto;
}

}  // namespace distbench::node
