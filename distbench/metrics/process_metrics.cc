#include "distbench/metrics/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/cpu_time.h"
#include "distbench/base/thread_count.h"
#include "distbench/metrics/metrics_server.h"

namespace distbench {
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

}  // namespace

std::vector<prometheus::MetricFamily> ProcessMetrics() {
  const Descriptors descriptors = CountDescriptors();
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return {
      Counter("process_cpu_seconds_total", "CPU time of the process",
              ProcessCpuSeconds()),
      Gauge("process_resident_memory_bytes", "Memory of the process",
            ResidentBytes()),
      Gauge("process_threads", "Threads of the process",
            static_cast<double>(ProcessThreadCount())),
      Gauge("process_open_fds", "Open file descriptors", descriptors.open),
      Gauge("process_max_fds", "Limit of open file descriptors",
            static_cast<double>(limit.rlim_cur)),
      Gauge("distbench_open_sockets", "Open file descriptors that are sockets",
            descriptors.sockets),
  };
}

}  // namespace distbench
