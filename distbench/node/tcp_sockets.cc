#include "distbench/node/tcp_sockets.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include <algorithm>
#include <cstring>

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

// Kernels differ in how much of tcp_info they know.
void ReadTcpInfo(absl::string_view bytes, TcpSocket& socket) {
  tcp_info info{};
  std::memcpy(&info, bytes.data(), std::min(bytes.size(), sizeof(info)));
  socket.uses_ecn = (info.tcpi_options & TCPI_OPT_ECN) != 0;
  socket.sent_segments = info.tcpi_segs_out;
  socket.retransmitted_segments = info.tcpi_total_retrans;
  socket.congestion_marked_segments = info.tcpi_delivered_ce;
  socket.rtt_ns = info.tcpi_rtt * base::kNsPerUs;
  // All ones before the first measurement.
  if (info.tcpi_min_rtt != ~uint32_t{0}) {
    socket.min_rtt_ns = info.tcpi_min_rtt * base::kNsPerUs;
  }
  socket.congestion_window = info.tcpi_snd_cwnd;
  socket.delivery_rate = static_cast<int64_t>(info.tcpi_delivery_rate);
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
      ReadTcpInfo(value, socket);
    } else if (type == INET_DIAG_CONG) {
      socket.congestion_control =
          std::string(value.substr(0, value.find('\0')));
    }
  });
  if (!has_info) return std::nullopt;
  return socket;
}

}  // namespace distbench::node
