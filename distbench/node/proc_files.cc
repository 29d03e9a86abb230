#include "distbench/node/proc_files.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/proc_folder.h"
#include "distbench/numa/thread_usage.h"

namespace distbench {
namespace {

struct Pages {
  int64_t resident = 0;
  int64_t shared = 0;  // of those: mapped files and shared memory
};

Pages ReadPages(const std::string& root, pid_t pid) {
  std::ifstream file(ProcFolder(root, pid) + "/statm");
  int64_t total = 0;
  Pages pages;
  if (!(file >> total >> pages.resident >> pages.shared)) return {};
  return pages;
}

// The fields of /proc/PID/stat after the process's name, which may contain
// spaces and parentheses. The first one is the state, field 3.
constexpr int kStateField = 3;
std::vector<std::string> ReadStatFields(const std::string& root, pid_t pid) {
  std::ifstream file(ProcFolder(root, pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  return absl::StrSplit(line.substr(end_of_name + 1), ' ', absl::SkipEmpty());
}

// Reads a line "NAME: NUMBER" of a status file.
int64_t ReadStatusNumber(const std::string& path, absl::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    int64_t number = 0;
    if (!absl::ConsumePrefix(&rest, name) || !absl::ConsumePrefix(&rest, ":")) {
      continue;
    }
    rest = absl::StripSuffix(rest, " kB");
    return absl::SimpleAtoi(rest, &number) ? number : 0;
  }
  return 0;
}

void ReadContextSwitches(const std::string& root, pid_t pid, RUsage& usage) {
  int64_t voluntary = 0;
  int64_t involuntary = 0;
  for (const int thread : ReadThreadIds(root, pid)) {
    const auto of_thread = ReadThreadUsage(root, pid, thread);
    if (!of_thread) continue;
    voluntary += of_thread->voluntary_context_switches;
    involuntary += of_thread->involuntary_context_switches;
  }
  usage.set_voluntary_context_switches(voluntary);
  usage.set_involuntary_context_switches(involuntary);
}

}  // namespace

int64_t ReadResidentBytes(const std::string& root) {
  return ReadPages(root, 0).resident * sysconf(_SC_PAGESIZE);
}

int64_t ReadPrivateBytes(const std::string& root, pid_t pid) {
  const Pages pages = ReadPages(root, pid);
  return (pages.resident - pages.shared) * sysconf(_SC_PAGESIZE);
}

RUsage ReadUsage(const std::string& root, pid_t pid) {
  constexpr int kMinorFaults = 10 - kStateField;
  constexpr int kMajorFaults = 12 - kStateField;
  constexpr int kUserTicks = 14 - kStateField;
  constexpr int kSystemTicks = 15 - kStateField;
  RUsage usage;
  const std::vector<std::string> fields = ReadStatFields(root, pid);
  if (fields.size() <= kSystemTicks) return usage;
  const auto number = [&fields](int index) {
    int64_t value = 0;
    return absl::SimpleAtoi(fields[index], &value) ? value : 0;
  };
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.set_user_cpu_time_seconds(number(kUserTicks) / ticks_per_second);
  usage.set_system_cpu_time_seconds(number(kSystemTicks) / ticks_per_second);
  usage.set_page_reclaims_soft_page_faults(number(kMinorFaults));
  usage.set_page_faults_hard_page_faults(number(kMajorFaults));
  usage.set_max_resident_set_size(
      ReadStatusNumber(ProcFolder(root, pid) + "/status", "VmHWM"));
  ReadContextSwitches(root, pid, usage);
  return usage;
}

// Each file of the process is a link; those of sockets lead to
// "socket:[INODE]". There may be thousands, and std::filesystem would allocate
// memory for each.
std::vector<uint32_t> ReadSocketInodes(const std::string& root, pid_t pid) {
  std::vector<uint32_t> inodes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      opendir((ProcFolder(root, pid) + "/fd").c_str()), closedir);
  if (folder == nullptr) return inodes;
  while (const dirent* const entry = readdir(folder.get())) {
    char text[64];
    const ssize_t size = readlinkat(dirfd(folder.get()), entry->d_name, text,
                                    sizeof(text));
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
