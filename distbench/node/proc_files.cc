#include "distbench/node/proc_files.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"

namespace distbench {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

int64_t ReadResidentBytes(const std::string& root) {
  std::ifstream file(root + "/proc/self/statm");
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  if (!(file >> total_pages >> resident_pages)) return 0;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

// The first line: cpu user nice system idle iowait irq softirq steal guest ...,
// in clock ticks; guest time is part of user time.
int64_t ReadHostCpuNs(const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  std::string name;
  int64_t user, nice, system, idle, iowait, irq, softirq, steal;
  if (!(file >> name >> user >> nice >> system >> idle >> iowait >> irq >>
        softirq >> steal)) {
    return 0;
  }
  const int64_t busy_ticks = user + nice + system + irq + softirq + steal;
  return busy_ticks * (kNsPerSecond / sysconf(_SC_CLK_TCK));
}

// Two lines of headings, then a line per device: name, and sixteen numbers: of
// what was received bytes, packets, errors, drops, ...; the same of what was
// sent.
std::map<std::string, NetworkCounters> ReadNetworkCounters(
    const std::string& root) {
  constexpr int kNumbers = 12;
  std::map<std::string, NetworkCounters> devices;
  std::ifstream file(root + "/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream stream(line.substr(colon + 1));
    int64_t numbers[kNumbers];
    int count = 0;
    while (count < kNumbers && stream >> numbers[count]) ++count;
    if (count < kNumbers) continue;
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

}  // namespace distbench
