// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The limits of a host, checked before it suffers: threads, and memory.

#ifndef DISTBENCH_NODE_HOST_LIMITS_H_
#define DISTBENCH_NODE_HOST_LIMITS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/threads.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/plan/plan.h"
#include "distbench/node/proc_files.h"

namespace distbench::node {

// The threads that an instance needs according to its test. They are counted in
// advance, because a library that cannot start a thread aborts its process.
struct ThreadNeeds {
  int64_t workers = 0;
  int64_t activities = 0;  // compute-bound ones
  int64_t handlers = 0;    // initial size of a driver's pool

  int64_t total() const { return workers + activities + handlers; }
};
ThreadNeeds CountThreads(const config::Plan& plan, int instance,
                         int worker_count);

// The maximum number of other threads in an engine's process, for itself and
// for gRPC, unless a handler pool grows.
int64_t OtherThreadsOfEngine();

// RESOURCE_EXHAUSTED if there is too little room for an engine with these
// needs, or if the engine needs more than the max_threads of its process (0: no
// such limit). The message names the limit and suggests remedies.
absl::Status CheckThreads(const ThreadNeeds& needs,
                          const base::ThreadRoom& room, int64_t max_threads);

// The same for an engine that already has this many threads.
absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads);

// Limits the memory of a node's processes before its host suffers. Check()
// takes about 30 us; not thread-safe.
class MemoryLimit {
 public:
  // max_bytes: from a test's overload_limits; 0: nine tenths of
  // AllowedMemoryBytes(), and a twentieth of the host's memory must remain
  // available to others. Files are read below `root`; empty: the real ones.
  MemoryLimit(int64_t max_bytes, std::string root);

  // RESOURCE_EXHAUSTED if this process and its engines use too much memory in
  // total. The message says how much, gives the limit and suggests remedies.
  absl::Status Check(const EngineProcesses& engines) const;

 private:
  absl::Status CheckHost(int64_t bytes) const;

  const bool is_default_;
  const std::string root_;
  const int64_t max_bytes_;        // 0: not known
  const int64_t least_available_;  // of the host; 0: any
};

// Checks whether a host lets a process have the sockets that a test needs.

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

#endif  // DISTBENCH_NODE_HOST_LIMITS_H_
