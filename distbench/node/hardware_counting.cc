// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/hardware_counting.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"

namespace distbench::node {
namespace {

struct Kind {
  uint64_t config;  // of PERF_TYPE_HARDWARE
  void (HardwareCounters::*set)(int64_t);
};

constexpr Kind kKinds[] = {
    {PERF_COUNT_HW_CPU_CYCLES, &HardwareCounters::set_cycles},
    {PERF_COUNT_HW_INSTRUCTIONS, &HardwareCounters::set_instructions},
    {PERF_COUNT_HW_CACHE_REFERENCES, &HardwareCounters::set_cache_references},
    {PERF_COUNT_HW_CACHE_MISSES, &HardwareCounters::set_cache_misses},
};

// -1 with errno if the kernel refuses.
int Open(const Kind& kind, int cpu) {
  perf_event_attr attributes = {};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = kind.config;
  attributes.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int kAnyProcess = -1;
  constexpr int kNoGroup = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, kAnyProcess,
                                  cpu, kNoGroup, PERF_FLAG_FD_CLOEXEC));
}

std::optional<int64_t> ReadCount(const base::FileDescriptor& counter) {
  struct {
    uint64_t count;
    uint64_t enabled_ns;
    uint64_t running_ns;
  } value;
  if (read(counter.get(), &value, sizeof value) != sizeof value) {
    return std::nullopt;
  }
  return ScaledCount(static_cast<int64_t>(value.count),
                     static_cast<int64_t>(value.enabled_ns),
                     static_cast<int64_t>(value.running_ns));
}

}  // namespace

HardwareCounting::HardwareCounting() {
  const absl::StatusOr<base::IndexSet> cpus =
      base::ParseIndexList(base::FirstLine("/sys/devices/system/cpu/online"));
  if (!cpus.ok() || cpus->empty()) {
    problem_ = "/sys does not say which CPUs are online";
    return;
  }
  int first_error = 0;
  for (const Kind& kind : kKinds) {
    Event event = {.set = kind.set, .cpus = {}};
    for (const int cpu : *cpus) {
      base::FileDescriptor counter(Open(kind, cpu));
      if (!counter.is_open()) {
        if (first_error == 0) first_error = errno;
        break;
      }
      event.cpus.push_back(std::move(counter));
    }
    if (event.cpus.size() == cpus->size()) events_.push_back(std::move(event));
  }
  if (events_.empty()) problem_ = CountingProblem(first_error);
}

HardwareCounters HardwareCounting::Read() const {
  HardwareCounters counters;
  for (const Event& event : events_) {
    int64_t sum = 0;
    bool is_complete = true;
    for (const base::FileDescriptor& cpu : event.cpus) {
      const std::optional<int64_t> count = ReadCount(cpu);
      is_complete &= count.has_value();
      sum += count.value_or(0);
    }
    if (is_complete) (counters.*event.set)(sum);
  }
  return counters;
}

int64_t ScaledCount(int64_t count, int64_t enabled_ns, int64_t running_ns) {
  if (running_ns <= 0) return 0;
  if (running_ns >= enabled_ns) return count;
  return static_cast<int64_t>(static_cast<double>(count) *
                              static_cast<double>(enabled_ns) /
                              static_cast<double>(running_ns));
}

std::string CountingProblem(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the kernel does not let this process count events of the whole "
             "host; set kernel.perf_event_paranoid to 0, or give the node "
             "manager CAP_PERFMON";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the CPU, or the virtual machine, has no counters of cycles, "
             "instructions or cache misses";
    case ENOSYS:
      return "the kernel was built without perf_event_open";
    case EMFILE:
    case ENFILE:
      return "there are too few file descriptors for a counter in each CPU; "
             "raise the limit (ulimit -n)";
    default:
      return absl::StrCat("perf_event_open failed: ", strerror(error));
  }
}

}  // namespace distbench::node
