#include "distbench/node/socket_limits.h"

#include <sys/resource.h>

#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::node {
namespace {

// Libraries occasionally open this many files besides sockets. A process that
// is this close to its limit has probably failed because of it.
constexpr int64_t kReserve = 16;

// An epoll instance, an eventfd and a timerfd.
constexpr int64_t kMaxFilesPerWorker = 3;

constexpr char kHowToOpenMore[] =
    "raise ulimit -n (under systemd LimitNOFILE) for this node manager, and "
    "its "
    "--engine_max_files if that is given, or have fewer connections: fewer "
    "instances on the node, or a smaller "
    "workers_per_instance";

// What a worker opens with the driver that is below all decorators.
config::DriverFiles FilesOf(const config::DriverOptions& options) {
  const auto* driver = config::FindDriver(options.driver);
  return driver == nullptr || driver->files == nullptr ? config::DriverFiles()
                                                       : driver->files(options);
}

// The minimum number of connections from a worker to each of its peers.
int64_t ConnectionsPerPeer(const config::DriverOptions& options) {
  if (!FilesOf(options).has_connections) return 0;
  // The names of this setting in drivers over sockets of our own, and in grpc.
  for (const char* name : {"connections", "channels"}) {
    const auto* const count =
        config::FindSettingValue<int64_t>(options.client_settings, name);
    if (count != nullptr) return *count;
  }
  return 1;
}

}  // namespace

SocketLimits ReadSocketLimits(const std::string& root, pid_t pid) {
  SocketLimits limits;
  rlimit files;
  if (prlimit(pid, RLIMIT_NOFILE, nullptr, &files) == 0 &&
      files.rlim_cur != RLIM_INFINITY) {
    limits.max_open_files = static_cast<int64_t>(files.rlim_cur);
  }
  limits.open_files = static_cast<int64_t>(
      base::NamesIn(base::ProcFolder(root, pid) + "/fd").size());
  std::ifstream range(root + "/proc/sys/net/ipv4/ip_local_port_range");
  int64_t first = 0;
  int64_t last = 0;
  if (range >> first >> last && last >= first) {
    limits.local_ports = last - first + 1;
  }
  return limits;
}

SocketNeeds CountSockets(const std::vector<ConnectingInstance>& instances) {
  SocketNeeds needs;
  std::map<std::string, int64_t> connections_to;
  for (const ConnectingInstance& instance : instances) {
    const int64_t connections =
        instance.worker_count *
        ConnectionsPerPeer(config::Innermost(*instance.driver));
    for (const std::string& peer : instance.peers) {
      needs.sockets += connections;
      connections_to[peer] += connections;
    }
  }
  for (const auto& [peer, connections] : connections_to) {
    if (connections <= needs.connections_to_busiest_peer) continue;
    needs.busiest_peer = peer;
    needs.connections_to_busiest_peer = connections;
  }
  return needs;
}

absl::Status CheckSockets(const SocketNeeds& needs,
                          const SocketLimits& limits) {
  const int64_t files = limits.open_files + needs.sockets + kReserve;
  if (limits.max_open_files > 0 && files > limits.max_open_files) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the instances here need at least ", needs.sockets,
                     " sockets, but this process may have ",
                     limits.max_open_files, " files open, and has ",
                     limits.open_files, " already; ", kHowToOpenMore));
  }
  const int64_t connections = needs.connections_to_busiest_peer;
  if (limits.local_ports > 0 && connections > limits.local_ports) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the instances here need ", connections, " connections to ",
        needs.busiest_peer, ", but this host has ", limits.local_ports,
        " ports for its ends of them; widen net.ipv4.ip_local_port_range, or "
        "spread the load over more peers or nodes"));
  }
  return absl::OkStatus();
}

absl::Status CheckWorkerFiles(const config::DriverOptions& driver,
                              int worker_count, const SocketLimits& limits) {
  const int64_t needed =
      worker_count *
      (kMaxFilesPerWorker + FilesOf(config::Innermost(driver)).per_worker);
  if (limits.max_open_files == 0 ||
      limits.open_files + needed + kReserve <= limits.max_open_files) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      worker_count, " workers open up to ", needed,
      " files, but this process may have ", limits.max_open_files,
      " open, and has ", limits.open_files, " already; ", kHowToOpenMore));
}

absl::Status ExplainBySockets(const absl::Status& error,
                              const SocketLimits& limits) {
  if (error.ok() || limits.max_open_files == 0 ||
      limits.open_files + kReserve < limits.max_open_files) {
    return error;
  }
  return absl::Status(
      error.code(),
      absl::StrCat(error.message(), "; this process has ", limits.open_files,
                   " of at most ", limits.max_open_files,
                   " files open: ", kHowToOpenMore));
}

}  // namespace distbench::node
