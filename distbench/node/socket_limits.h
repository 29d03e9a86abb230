// Checks whether a host lets a process have the sockets that a test needs.

#ifndef DISTBENCH_NODE_SOCKET_LIMITS_H_
#define DISTBENCH_NODE_SOCKET_LIMITS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::node {

// In all fields, 0 means not known.
struct SocketLimits {
  int64_t max_open_files = 0;  // of a process
  int64_t open_files = 0;

  // Local ports that the host may use for connections to one peer.
  int64_t local_ports = 0;
};

// Reads the limits of a process of the same user; pid 0: this process. Files
// are read below `root`; empty: the real ones.
SocketLimits ReadSocketLimits(const std::string& root, pid_t pid = 0);

// The minimum that the instances of a node need.
struct SocketNeeds {
  int64_t sockets = 0;

  // Connections to one address of a peer.
  std::string busiest_peer;
  int64_t connections_to_busiest_peer = 0;
};

// An instance of a node.
struct ConnectingInstance {
  const config::DriverOptions* driver;
  int worker_count = 1;
  std::vector<std::string> peers;
};

// Counts the instances' outgoing connections only; accepted ones depend on the
// peers.
SocketNeeds CountSockets(const std::vector<ConnectingInstance>& instances);

// RESOURCE_EXHAUSTED if the limits do not suffice. The message says which one,
// and how to raise it.
absl::Status CheckSockets(const SocketNeeds& needs, const SocketLimits& limits);

// The same for the files that an instance's workers open for themselves, before
// there are connections.
absl::Status CheckWorkerFiles(const config::DriverOptions& driver,
                              int worker_count, const SocketLimits& limits);

// Returns an error of an operation that needed sockets, and adds a note if
// sockets have run out.
absl::Status ExplainBySockets(const absl::Status& error,
                              const SocketLimits& limits);

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_SOCKET_LIMITS_H_
