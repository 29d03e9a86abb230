// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/files.h"
#include "distbench/base/memory.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/engine/activity_pools/activities.h"

namespace distbench::node {
namespace {

// Main, commands, the silence watch and a driver's timer.
constexpr int64_t kOwnThreads = 4;

// Timers, resolvers and executors of gRPC 1.51, apart from its two pools.
constexpr int64_t kOtherGrpcThreads = 8;

constexpr char kHowToNeedFewer[] =
    "let the test have fewer workers_per_instance, or smaller pools";

// The initial size of the handler pool.
int64_t HandlerThreads(const config::DriverOptions& options) {
  const auto& settings = config::Innermost(options).server_settings;
  const auto* const type =
      config::FindSettingValue<std::string>(settings, "server_type");
  const auto* const kind =
      config::FindSettingValue<std::string>(settings, "threadpool_type");
  const bool has_pool =
      type != nullptr && (*type == "polling" || *type == "handoff");
  const bool starts_empty = kind != nullptr && *kind == "null";
  if (!has_pool || starts_empty) return 0;
  const auto* const size =
      config::FindSettingValue<int64_t>(settings, "threadpool_size");
  return size != nullptr && *size > 0 ? *size
                                      : std::thread::hardware_concurrency();
}

std::string Describe(const ThreadNeeds& needs) {
  return absl::StrCat(needs.workers, " workers, ", needs.activities,
                      " for activities, ", needs.handlers,
                      " for requests, and up to ", OtherThreadsOfEngine(),
                      " of its process and libraries");
}

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

ThreadNeeds CountThreads(const config::Plan& plan, int instance,
                         int worker_count) {
  const int service = plan.instances[instance].service;
  return {.workers = worker_count,
          .activities = engine::ActivityThreads(plan, instance, worker_count),
          .handlers = HandlerThreads(plan.services[service].driver)};
}

// gRPC 1.51 has as many threads as CPUs for events, and half as many for
// callbacks; both numbers are clamped.
int64_t OtherThreadsOfEngine() {
  const int64_t cpus = std::thread::hardware_concurrency();
  return kOwnThreads + kOtherGrpcThreads + std::clamp<int64_t>(cpus, 2, 32) +
         std::clamp<int64_t>(cpus / 2, 2, 16);
}

absl::Status CheckThreads(const ThreadNeeds& needs,
                          const base::ThreadRoom& room, int64_t max_threads) {
  const int64_t needed = needs.total() + OtherThreadsOfEngine();
  const auto too_few = [&](const auto&... limit_and_remedy) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its engine process needs up to ", needed, " threads (",
                     Describe(needs), "), but ", limit_and_remedy...));
  };
  if (max_threads > 0 && needed > max_threads) {
    return too_few("the node manager's --engine_max_threads is ", max_threads,
                   "; raise it, or ", kHowToNeedFewer);
  }
  if (needed <= room.left) return absl::OkStatus();
  return too_few(room.limit, "; raise that limit, or ", kHowToNeedFewer,
                 ", or place fewer instances on the node");
}

absl::Status CheckThreadsOfEngine(int64_t thread_count, int64_t max_threads) {
  if (max_threads == 0 || thread_count <= max_threads) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("its engine process has ", thread_count,
                   " threads, but the node manager's --engine_max_threads is ",
                   max_threads, "; raise it, or ", kHowToNeedFewer));
}

MemoryLimit::MemoryLimit(int64_t max_bytes, std::string root)
    : is_default_(max_bytes == 0),
      root_(std::move(root)),
      max_bytes_(is_default_ ? base::AllowedMemoryBytes(root_) / 10 * 9
                             : max_bytes),
      least_available_(
          is_default_ ? base::ReadMemInfoBytes(root_, "MemTotal") / 20 : 0) {}

absl::Status MemoryLimit::Check(const EngineProcesses& engines) const {
  const int64_t bytes = ReadNodeBytes(root_, engines);
  if (max_bytes_ == 0 || bytes <= max_bytes_) return CheckHost(bytes);
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too much memory used: ", Mebibytes(bytes), ", but ",
      is_default_ ? "nine tenths of what the host or its control group allows, "
                    "the default of "
                  : "the test's ",
      "overload_limits.max_memory_bytes", is_default_ ? ", are " : " is ",
      Mebibytes(max_bytes_),
      "; have fewer or smaller RPCs in flight, fewer samples "
      "(sample_memory_bytes) or fewer instances on the node, or raise it"));
}

absl::Status MemoryLimit::CheckHost(int64_t bytes) const {
  const int64_t available = base::ReadMemInfoBytes(root_, "MemAvailable");
  if (available == 0 || available >= least_available_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too little memory left on the host: ", Mebibytes(available),
      ", while this node uses ", Mebibytes(bytes),
      "; below a twentieth of all it begins to swap, or worse: look for what "
      "uses the rest, or set the test's overload_limits.max_memory_bytes"));
}

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
