#include "distbench/node/host_counters.h"

#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/control_group.h"
#include "distbench/base/first_line.h"
#include "distbench/base/proc_folder.h"
#include "distbench/base/time_units.h"
#include "distbench/numa/thread_usage.h"

namespace distbench {
namespace {

// A line "NAME NUMBER" of a file.
std::optional<int64_t> ReadNumber(const std::string& path,
                                  absl::string_view name) {
  std::ifstream file(path);
  std::string found;
  for (int64_t number = 0; file >> found >> number;) {
    if (found == name) return number;
  }
  return std::nullopt;
}

// A group without a limit may lack these numbers, as the topmost one does.
void AddThrottling(const ControlGroup& group, HostCounters& counters) {
  const std::string path = group.folder + "/cpu.stat";
  const bool is_v1 = group.version == 1;
  const auto count = ReadNumber(path, "nr_throttled");
  const auto time =
      ReadNumber(path, is_v1 ? "throttled_time" : "throttled_usec");
  if (!count || !time) return;
  counters.set_throttled_count(counters.throttled_count() + *count);
  counters.set_throttled_ns(counters.throttled_ns() +
                            *time * (is_v1 ? 1 : kNsPerUs));
}

// The first line: some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS.
std::optional<int64_t> ReadPressureNs(const std::string& root,
                                      absl::string_view resource) {
  const std::string line =
      FirstLine(absl::StrCat(root, "/proc/pressure/", resource));
  const size_t total = line.find(" total=");
  int64_t us = 0;
  if (!absl::StartsWith(line, "some ") || total == std::string::npos ||
      !absl::SimpleAtoi(line.substr(total + 7), &us)) {
    return std::nullopt;
  }
  return us * kNsPerUs;
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

// The first lines: NAME user nice system idle iowait irq softirq steal guest
// ..., in clock ticks; guest time is part of user time. The first name is
// "cpu", which stands for all CPUs; "cpu0" and so on follow.
CpuTimes ReadCpuTimes(const std::string& root) {
  const int64_t tick_ns = kNsPerSecond / sysconf(_SC_CLK_TCK);
  CpuTimes times;
  std::ifstream file(root + "/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "cpu")) break;
    std::istringstream stream(line);
    std::string name;
    int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    if (!(stream >> name >> user >> nice >> system >> idle >> iowait >> irq >>
          softirq >> steal)) {
      continue;
    }
    int number = 0;
    const bool is_one = absl::SimpleAtoi(name.substr(3), &number);
    HostCounters& cpu = is_one ? times.by_cpu[number] : times.all;
    cpu.set_user_cpu_ns((user + nice) * tick_ns);
    cpu.set_system_cpu_ns(system * tick_ns);
    cpu.set_irq_cpu_ns(irq * tick_ns);
    cpu.set_softirq_cpu_ns(softirq * tick_ns);
    cpu.set_steal_cpu_ns(steal * tick_ns);
    cpu.set_idle_cpu_ns(idle * tick_ns);
    cpu.set_iowait_cpu_ns(iowait * tick_ns);
  }
  return times;
}

HostCounters ReadOtherCounters(const std::string& root) {
  HostCounters counters;
  for (const ControlGroup& group : ControlGroupsOf("cpu", root)) {
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
                                            const std::set<pid_t>& others) {
  std::set<pid_t> processes = others;
  processes.insert(0);
  std::map<int, int64_t> delays;
  for (const pid_t pid : processes) {
    for (const int thread : ReadThreadIds(root, pid)) {
      std::ifstream file(absl::StrCat(ProcFolder(root, pid), "/task/", thread,
                                      "/schedstat"));
      int64_t cpu_ns = 0;
      int64_t delay_ns = 0;
      if (file >> cpu_ns >> delay_ns) delays[thread] = delay_ns;
    }
  }
  return delays;
}

}  // namespace distbench
