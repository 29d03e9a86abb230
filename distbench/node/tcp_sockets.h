// The TCP connections of this network namespace, as the kernel sees them.

#ifndef DISTBENCH_NODE_TCP_SOCKETS_H_
#define DISTBENCH_NODE_TCP_SOCKETS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::node {

struct TcpAddress {
  bool is_ipv6 = false;
  std::array<uint8_t, 16> bytes{};  // of IPv4: the first four
  uint16_t port = 0;

  // "ADDRESS:PORT", and "[ADDRESS]:PORT" for IPv6. IPv4 addresses that are
  // mapped to IPv6 are shown as IPv4.
  std::string ToString() const;
};

// One end of a connection. Its counters begin with the connection, and are
// modulo 2^32. What an old kernel does not report is 0.
struct TcpSocket {
  uint64_t cookie = 0;  // never used again for another socket
  uint32_t inode = 0;   // 0 if no process has the socket
  TcpAddress local = {};
  TcpAddress peer = {};
  std::string congestion_control = {};
  bool uses_ecn = false;

  uint32_t sent_segments = 0;
  uint32_t retransmitted_segments = 0;
  uint32_t congestion_marked_segments = 0;

  // The smoothed round trip time, and the shortest one of the last minutes.
  int64_t rtt_ns = 0;
  int64_t min_rtt_ns = 0;

  uint32_t congestion_window = 0;  // in segments
  int64_t delivery_rate = 0;       // in bytes per second
};

// Lists connections over IPv4 and IPv6 that are established or closing, in no
// particular order. Fails if the kernel does not tell.
absl::StatusOr<std::vector<TcpSocket>> ListTcpSockets();

// Parses a message of sock_diag(7): an inet_diag_msg and its attributes.
// Returns nothing if it is too short or has no tcp_info.
std::optional<TcpSocket> ParseTcpSocket(absl::string_view message);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_TCP_SOCKETS_H_
