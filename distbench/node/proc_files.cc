// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/proc_files.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/memory.h"
#include "distbench/base/time_units.h"
#include "distbench/numa/thread_watch.h"

namespace distbench::node {
namespace {

// The numbers at the beginning of a text, which white space separates.
std::vector<int64_t> Numbers(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) break;
    numbers.push_back(number);
  }
  return numbers;
}

// Without mapped files and shared memory, unless `with_shared`.
int64_t ReadBytes(const std::string& root, pid_t pid, bool with_shared) {
  const std::vector<int64_t> pages =
      Numbers(base::FirstLine(base::ProcFolder(root, pid) + "/statm"));
  if (pages.size() < 3) return 0;
  return (pages[1] - (with_shared ? 0 : pages[2])) * sysconf(_SC_PAGESIZE);
}

void ReadContextSwitches(const std::string& root, pid_t pid, RUsage& usage) {
  int64_t voluntary = 0;
  int64_t involuntary = 0;
  for (const int thread : numa::ReadThreadIds(root, pid)) {
    const auto of_thread = numa::ReadThreadUsage(root, pid, thread);
    if (!of_thread) continue;
    voluntary += of_thread->voluntary_context_switches;
    involuntary += of_thread->involuntary_context_switches;
  }
  usage.set_voluntary_context_switches(voluntary);
  usage.set_involuntary_context_switches(involuntary);
}

// A group without a limit may lack these numbers, as the topmost one does.
void AddThrottling(const base::ControlGroupFolder& group,
                   HostCounters& counters) {
  const std::string path = group.folder + "/cpu.stat";
  const bool is_v1 = group.version == 1;
  const auto count = base::ReadNumberOf(path, "nr_throttled");
  const auto time =
      base::ReadNumberOf(path, is_v1 ? "throttled_time" : "throttled_usec");
  if (!count || !time) return;
  counters.set_throttled_count(counters.throttled_count() + *count);
  counters.set_throttled_ns(counters.throttled_ns() +
                            *time * (is_v1 ? 1 : base::kNsPerUs));
}

// The first line: some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS.
std::optional<int64_t> ReadPressureNs(const std::string& root,
                                      absl::string_view resource) {
  const std::string line =
      base::FirstLine(absl::StrCat(root, "/proc/pressure/", resource));
  const size_t total = line.find(" total=");
  int64_t us = 0;
  if (!absl::StartsWith(line, "some ") || total == std::string::npos ||
      !absl::SimpleAtoi(line.substr(total + 7), &us)) {
    return std::nullopt;
  }
  return us * base::kNsPerUs;
}

// Two lines: "Tcp: NAME ..." and "Tcp: NUMBER ...".
void ReadTcp(const std::string& root, HostCounters& counters) {
  std::ifstream file(root + "/proc/net/snmp");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "Tcp: ")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    for (size_t i = 0; i < words.size() && i < names.size(); ++i) {
      int64_t number = 0;
      if (!absl::SimpleAtoi(words[i], &number)) continue;
      if (names[i] == "OutSegs") counters.set_tcp_sent_segments(number);
      if (names[i] == "RetransSegs") {
        counters.set_tcp_retransmitted_segments(number);
      }
    }
    names = words;
  }
}

}  // namespace

int64_t ReadNodeBytes(const std::string& root, const EngineProcesses& engines) {
  int64_t bytes = ReadBytes(root, /*pid=*/0, /*with_shared=*/true);
  for (const auto& [pid, instances] : engines) {
    bytes += ReadBytes(root, pid, /*with_shared=*/false);
  }
  return bytes;
}

RUsage ReadUsage(const std::string& root, pid_t pid) {
  constexpr int kMinorFaults = 10;
  constexpr int kMajorFaults = 12;
  constexpr int kUserTicks = 14;
  constexpr int kSystemTicks = 15;
  RUsage usage;
  const std::string folder = base::ProcFolder(root, pid);
  const std::vector<std::string> fields = base::ReadStatFields(folder);
  if (fields.size() <= kSystemTicks) return usage;
  const auto number_in = [](absl::string_view text) {
    int64_t value = 0;
    return absl::SimpleAtoi(text, &value) ? value : 0;
  };
  const auto number = [&](int field) { return number_in(fields[field]); };
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.set_user_cpu_time_seconds(number(kUserTicks) / ticks_per_second);
  usage.set_system_cpu_time_seconds(number(kSystemTicks) / ticks_per_second);
  usage.set_page_reclaims_soft_page_faults(number(kMinorFaults));
  usage.set_page_faults_hard_page_faults(number(kMajorFaults));
  usage.set_max_resident_set_size(number_in(
      absl::StripSuffix(base::ReadTextOf(folder + "/status", "VmHWM"), " kB")));
  ReadContextSwitches(root, pid, usage);
  return usage;
}

// Each file of the process is a link; those of sockets lead to
// "socket:[INODE]". There may be thousands, and std::filesystem would allocate
// memory for each.
std::vector<uint32_t> ReadSocketInodes(const std::string& root, pid_t pid) {
  std::vector<uint32_t> inodes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      opendir((base::ProcFolder(root, pid) + "/fd").c_str()), closedir);
  if (folder == nullptr) return inodes;
  while (const dirent* const entry = readdir(folder.get())) {
    char text[64];
    const ssize_t size =
        readlinkat(dirfd(folder.get()), entry->d_name, text, sizeof(text));
    if (size < 0) continue;
    absl::string_view target(text, size);
    uint32_t inode = 0;
    if (absl::ConsumePrefix(&target, "socket:[") &&
        absl::ConsumeSuffix(&target, "]") && absl::SimpleAtoi(target, &inode)) {
      inodes.push_back(inode);
    }
  }
  return inodes;
}

// After two header lines there is a line per device: its name and sixteen
// numbers, first the received bytes, packets, errors, drops, ..., then the same
// for sending.
std::map<std::string, NetworkCounters> ReadNetworkCounters(
    const std::string& root) {
  constexpr size_t kNumbers = 12;
  std::map<std::string, NetworkCounters> devices;
  std::ifstream file(root + "/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::vector<int64_t> numbers =
        Numbers(absl::string_view(line).substr(colon + 1));
    if (numbers.size() < kNumbers) continue;
    NetworkCounters& counters =
        devices[std::string(absl::StripAsciiWhitespace(line.substr(0, colon)))];
    counters.set_received_bytes(numbers[0]);
    counters.set_received_packets(numbers[1]);
    counters.set_sent_bytes(numbers[8]);
    counters.set_sent_packets(numbers[9]);
    counters.set_dropped_packets(numbers[3] + numbers[11]);
  }
  return devices;
}

// The first lines: NAME user nice system idle iowait irq softirq steal guest
// ..., in clock ticks; guest time is part of user time. The first name is
// "cpu", which stands for all CPUs; "cpu0" and so on follow.
CpuTimes ReadCpuTimes(const std::string& root) {
  constexpr size_t kTimes = 8;
  const int64_t tick_ns = base::kNsPerSecond / sysconf(_SC_CLK_TCK);
  CpuTimes times;
  std::ifstream file(root + "/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "cpu")) break;
    const size_t end_of_name = line.find(' ');
    if (end_of_name == std::string::npos) continue;
    std::vector<int64_t> ns =
        Numbers(absl::string_view(line).substr(end_of_name));
    if (ns.size() < kTimes) continue;
    for (int64_t& time : ns) time *= tick_ns;
    int number = 0;
    const bool is_one =
        absl::SimpleAtoi(line.substr(3, end_of_name - 3), &number);
    HostCounters& cpu = is_one ? times.by_cpu[number] : times.all;
    cpu.set_user_cpu_ns(ns[0] + ns[1]);
    cpu.set_nice_cpu_ns(ns[1]);
    cpu.set_system_cpu_ns(ns[2]);
    cpu.set_idle_cpu_ns(ns[3]);
    cpu.set_iowait_cpu_ns(ns[4]);
    cpu.set_irq_cpu_ns(ns[5]);
    cpu.set_softirq_cpu_ns(ns[6]);
    cpu.set_steal_cpu_ns(ns[7]);
  }
  return times;
}

HostCounters ReadOtherCounters(const std::string& root) {
  HostCounters counters;
  for (const base::ControlGroupFolder& group :
       base::ControlGroupsOf("cpu", root)) {
    AddThrottling(group, counters);
  }
  if (const auto ns = ReadPressureNs(root, "cpu")) {
    counters.set_cpu_pressure_ns(*ns);
  }
  if (const auto ns = ReadPressureNs(root, "memory")) {
    counters.set_memory_pressure_ns(*ns);
  }
  if (const auto ns = ReadPressureNs(root, "io")) {
    counters.set_io_pressure_ns(*ns);
  }
  ReadTcp(root, counters);
  return counters;
}

// The second number of schedstat; the first is the time on CPUs.
std::map<int, int64_t> ReadRunQueueDelaysNs(const std::string& root,
                                            const EngineProcesses& engines) {
  std::map<int, int64_t> delays;
  const auto read = [&](pid_t pid) {
    const std::string threads = base::ProcFolder(root, pid) + "/task/";
    for (const int thread : numa::ReadThreadIds(root, pid)) {
      const std::vector<int64_t> ns =
          Numbers(base::FirstLine(absl::StrCat(threads, thread, "/schedstat")));
      if (ns.size() >= 2) delays[thread] = ns[1];
    }
  };
  read(/*pid=*/0);
  for (const auto& [pid, instances] : engines) read(pid);
  return delays;
}

namespace {

// Zones are called "intel-rapl:0", and parts of zones "intel-rapl:0:1". Zones
// of the other interface to the same counters, "intel-rapl-mmio:0", would count
// them again.
bool IsZone(const std::string& name) {
  return absl::StartsWith(name, "intel-rapl:");
}

// The names of the zones that contain this one, and its own.
std::string DomainOf(const std::string& folder, const std::string& zone) {
  const std::string name = base::FirstLine(absl::StrCat(folder, zone, "/name"));
  const size_t end_of_parent = zone.rfind(':');
  const std::string parent = zone.substr(0, end_of_parent);
  return IsZone(parent) ? absl::StrCat(DomainOf(folder, parent), "/", name)
                        : name;
}

}  // namespace

absl::StatusOr<EnergyCounters> ReadEnergy(const std::string& root) {
  const std::string folder = root + "/sys/class/powercap/";
  EnergyCounters counters;
  bool has_zones = false;
  for (const std::string& zone : base::NamesIn(folder)) {
    if (!IsZone(zone)) continue;
    has_zones = true;
    const auto value_uj =
        base::ReadNumber(absl::StrCat(folder, zone, "/energy_uj"));
    const auto range_uj =
        base::ReadNumber(absl::StrCat(folder, zone, "/max_energy_range_uj"));
    if (!value_uj || !range_uj) continue;
    counters[DomainOf(folder, zone)] = {*value_uj, *range_uj};
  }
  if (!has_zones) {
    return absl::NotFoundError(
        "the host has no counters of energy in /sys/class/powercap: the CPU, "
        "the kernel or the virtual machine lacks them");
  }
  if (counters.empty()) {
    return absl::PermissionDeniedError(
        "the counters of energy in /sys/class/powercap cannot be read; run the "
        "node manager as root, or make energy_uj readable");
  }
  return counters;
}

std::map<std::string, int64_t> EnergyBetween(const EnergyCounters& start,
                                             const EnergyCounters& end) {
  std::map<std::string, int64_t> used_uj;
  for (const auto& [domain, later] : end) {
    const auto before = start.find(domain);
    if (before == start.end()) continue;
    int64_t difference_uj = later.value_uj - before->second.value_uj;
    if (difference_uj < 0) difference_uj += later.range_uj;
    if (difference_uj >= 0) used_uj[domain] = difference_uj;
  }
  return used_uj;
}

}  // namespace distbench::node
