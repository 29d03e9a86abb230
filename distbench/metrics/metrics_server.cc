// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/metrics_server.h"

#include <dirent.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/threads.h"

namespace distbench::metrics {
namespace {

// Bytes; 0: not known.
double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return file ? resident * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

struct Descriptors {
  int open = 0;
  int sockets = 0;
};

Descriptors CountDescriptors() {
  Descriptors count;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"),
                                                      closedir);
  if (directory == nullptr) return count;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    ++count.open;
    char target[64];
    const std::string path = absl::StrCat("/proc/self/fd/", entry->d_name);
    const ssize_t size = readlink(path.c_str(), target, sizeof(target));
    const absl::string_view kind(target, size > 0 ? size : 0);
    if (absl::StartsWith(kind, "socket:")) ++count.sockets;
  }
  return count;
}

// Options of CivetWeb, the HTTP server. Scrapes are rare and short.
std::vector<std::string> ServerOptions(const std::vector<std::string>& ports) {
  return {"listening_ports",    absl::StrJoin(ports, ","),
          "num_threads",        "2",
          "request_timeout_ms", "5000"};
}

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsServer::Source source)
      : source_(std::move(source)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families = source_();
    for (prometheus::MetricFamily& family : ProcessMetrics()) {
      families.push_back(std::move(family));
    }
    return families;
  }

 private:
  const MetricsServer::Source source_;
};

}  // namespace

std::vector<prometheus::MetricFamily> ProcessMetrics() {
  const Descriptors descriptors = CountDescriptors();
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return {
      Counter("process_cpu_seconds_total", "CPU time of the process",
              base::ProcessCpuSeconds()),
      Gauge("process_resident_memory_bytes", "Memory of the process",
            ResidentBytes()),
      Gauge("process_threads", "Threads of the process",
            static_cast<double>(base::ProcessThreadCount())),
      Gauge("process_open_fds", "Open file descriptors", descriptors.open),
      Gauge("process_max_fds", "Limit of open file descriptors",
            static_cast<double>(limit.rlim_cur)),
      Gauge("distbench_open_sockets", "Open file descriptors that are sockets",
            descriptors.sockets),
  };
}

class MetricsServer::Impl {
 public:
  Impl(const std::vector<std::string>& addresses, Source source)
      : collector_(std::make_shared<Collector>(std::move(source))),
        exposer_(ServerOptions(addresses)) {
    exposer_.RegisterCollectable(collector_);
  }

  int port() const { return exposer_.GetListeningPorts().front(); }

 private:
  const std::shared_ptr<Collector> collector_;
  prometheus::Exposer exposer_;
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& listen_address, int port, Source source) {
  if (port == 0) {
    const absl::StatusOr<int> free = base::FindFreePort(listen_address);
    if (!free.ok()) return free.status();
    port = *free;
  }
  const absl::StatusOr<std::vector<std::string>> addresses =
      base::ListenAddresses(listen_address, port);
  if (!addresses.ok()) return addresses.status();
  // CivetWeb takes "+PORT" for IPv4 and IPv6; newer versions of it want both.
  const bool is_of_both =
      listen_address.empty() && base::AllInterfaces() == "::";
  const std::vector<std::string> ports =
      is_of_both ? std::vector<std::string>{absl::StrCat("+", port)}
                 : *addresses;
  // The library reports its errors by exceptions.
  try {
    return std::unique_ptr<MetricsServer>(
        new MetricsServer(std::make_unique<Impl>(ports, std::move(source))));
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("cannot serve metrics at ",
                                               absl::StrJoin(ports, ", "), ": ",
                                               error.what()));
  }
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const { return impl_->port(); }

}  // namespace distbench::metrics
