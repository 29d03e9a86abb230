// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Observes the TCP connections that carry a test's traffic.

#ifndef DISTBENCH_NODE_DATA_CONNECTIONS_H_
#define DISTBENCH_NODE_DATA_CONNECTIONS_H_

#include <linux/tcp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/node/proc_files.h"
#include "proto/results.pb.h"

namespace distbench::node {

// The TCP connections of this network namespace, as the kernel sees them.

struct TcpAddress {
  bool is_ipv6 = false;
  std::array<uint8_t, 16> bytes{};  // of IPv4: the first four
  uint16_t port = 0;

  // "ADDRESS:PORT", and "[ADDRESS]:PORT" for IPv6. IPv4 addresses that are
  // mapped to IPv6 are shown as IPv4.
  std::string ToString() const;
};

// One end of a connection.
struct TcpSocket {
  uint64_t cookie = 0;  // never used again for another socket
  uint32_t inode = 0;   // 0 if no process has the socket
  TcpAddress local = {};
  TcpAddress peer = {};
  std::string congestion_control = {};

  // Its counters begin with the connection, and are modulo 2^32. What an old
  // kernel does not report is 0.
  tcp_info info = {};
};

// Lists connections over IPv4 and IPv6 that are established or closing, in no
// particular order. Fails if the kernel does not tell.
absl::StatusOr<std::vector<TcpSocket>> ListTcpSockets();

// Parses a message of sock_diag(7): an inet_diag_msg and its attributes.
// Returns nothing if it is too short or has no tcp_info.
std::optional<TcpSocket> ParseTcpSocket(absl::string_view message);

// The data connections of a node are the TCP connections of its engine
// processes. They are found by the inodes of the processes' sockets, which are
// read again only when a connection appears that is not known yet.
//
// If the kernel does not tell about connections, there are none, and the log
// says why. Not thread-safe.
class DataConnectionWatch {
 public:
  struct Options {
    const base::Clock* clock = &base::RealClock();

    // The parent of /proc; empty: the real one.
    std::string root;

    std::function<EngineProcesses()> engines;

    std::function<absl::StatusOr<std::vector<TcpSocket>>()> list_sockets =
        ListTcpSockets;
    std::function<int64_t()> cpu_time_ns = base::ThreadCpuNs;

    // Connections that Finish() describes. Of those that have ended, at most
    // twice as many are remembered, so that memory is bounded.
    size_t max_described = 1000;
  };

  explicit DataConnectionWatch(Options options)
      : options_(std::move(options)) {}

  // Forgets everything. What the connections have sent so far is not part of
  // the first sample.
  void Start();

  // Returns what was counted since Start() or the previous sample. Returns
  // nothing if there are no engine processes, if the kernel does not tell, or
  // if a sample now would take more than a hundredth of the thread's time: as
  // long as a sample takes less than 10 ms of CPU time, there can be one a
  // second.
  std::optional<DataConnections> Sample();

  // Describes the connections, also those that have ended, first those with the
  // most retransmitted segments.
  void Finish(NodeResources& resources);

 private:
  struct Connection {
    DataConnection proto;  // what was counted, and whose it is
    TcpSocket socket;      // at the last reading
    int64_t last_reading = 0;

    // Of the readings that had a round trip time.
    int64_t rtt_sum_ns = 0;
    int64_t rtt_count = 0;
  };

  std::optional<DataConnections> Read();
  void FindOwners(const EngineProcesses& engines,
                  const std::vector<TcpSocket>& sockets);
  bool MayBelongToEngine(const TcpSocket& socket) const;
  Connection* FindConnection(const TcpSocket& socket);
  void RememberEnded();
  void KeepWorst(size_t count, std::vector<Connection>& connections);

  static void Add(const TcpSocket& socket, Connection& connection,
                  DataConnections& sum);
  static bool IsWorse(const Connection& a, const Connection& b);
  static DataConnection Describe(const Connection& connection);

  const Options options_;
  int64_t reading_ = 0;
  int64_t next_sample_ns_ = 0;  // monotonic

  // By cookie: a closed socket has no inode any more.
  absl::flat_hash_map<uint64_t, Connection> connections_;
  std::vector<Connection> ended_;
  int64_t omitted_count_ = 0;

  // By inode: the instances of the engines' sockets (empty for processes with
  // several), and how often a socket was looked for in vain. A socket that was
  // accepted just now is not yet among the files of its process, so one search
  // is not enough.
  absl::flat_hash_map<uint32_t, std::string> owners_;
  absl::flat_hash_map<uint32_t, int> strangers_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_DATA_CONNECTIONS_H_
