// Whether a host lets a process have the sockets that a test needs.

#ifndef DISTBENCH_NODE_SOCKET_LIMITS_H_
#define DISTBENCH_NODE_SOCKET_LIMITS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench {

// 0: not known.
struct SocketLimits {
  int64_t max_open_files = 0;  // of a process
  int64_t open_files = 0;

  // Ports that a host may use for its end of connections to one peer.
  int64_t local_ports = 0;
};

// Reads the limits of a process of this one's user; pid 0: this one. Files are read below
// `root`; empty: at their places.
SocketLimits ReadSocketLimits(const std::string& root, pid_t pid = 0);

// What the instances of a node need at least.
struct SocketNeeds {
  int64_t sockets = 0;

  // To one address of a peer.
  std::string busiest_peer;
  int64_t connections_to_busiest_peer = 0;
};

// An instance of a node.
struct ConnectingInstance {
  const DriverOptions* driver;
  int worker_count = 1;
  std::vector<std::string> peers;
};

// Of the instances' own connections; what they accept is up to others.
SocketNeeds CountSockets(const std::vector<ConnectingInstance>& instances);

// RESOURCE_EXHAUSTED if the limits do not suffice: says which one, and how to
// raise it.
absl::Status CheckSockets(const SocketNeeds& needs, const SocketLimits& limits);

// The same, of the files that the workers of an instance open for themselves
// before there are connections.
absl::Status CheckWorkerFiles(int worker_count, const SocketLimits& limits);

// The error of something that needed sockets; says so if they have run out.
absl::Status ExplainBySockets(const absl::Status& error,
                              const SocketLimits& limits);

}  // namespace distbench

#endif  // DISTBENCH_NODE_SOCKET_LIMITS_H_
