#include "distbench/numa/thread_usage.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/proc_folder.h"
#include "distbench/base/time_units.h"

namespace distbench {
namespace {

// Fields of /proc/PID/stat, counted from 1 as proc(5) does.
constexpr int kFirstFieldAfterName = 3;
constexpr int kUserTicks = 14;
constexpr int kSystemTicks = 15;
constexpr int kProcessor = 39;

// Returns false if the file is missing or malformed.
bool ReadStat(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/stat");
  std::string line;
  std::getline(file, line);
  // The name is in parentheses, and may contain parentheses.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(line.substr(name_end + 1));
  int64_t ticks = 0;
  std::string text;
  for (int field = kFirstFieldAfterName; fields >> text; ++field) {
    int64_t value = 0;
    if (field != kUserTicks && field != kSystemTicks && field != kProcessor) {
      continue;
    }
    if (!absl::SimpleAtoi(text, &value)) return false;
    if (field == kProcessor) {
      usage.last_cpu = static_cast<int>(value);
      usage.cpu_ns = ticks * (kNsPerSecond / sysconf(_SC_CLK_TCK));
      return true;
    }
    ticks += value;
  }
  return false;
}

// The first number of schedstat, if the kernel has it, is finer than ticks.
void ReadSchedstat(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/schedstat");
  int64_t cpu_ns = 0;
  if (file >> cpu_ns) usage.cpu_ns = cpu_ns;
}

void ReadStatus(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/status");
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "Cpus_allowed_list:")) {
      usage.allowed_cpus = ParseIndexList(rest).value_or(IndexSet{});
    } else if (absl::ConsumePrefix(&rest, "voluntary_ctxt_switches:")) {
      (void)absl::SimpleAtoi(rest, &usage.voluntary_context_switches);
    } else if (absl::ConsumePrefix(&rest, "nonvoluntary_ctxt_switches:")) {
      (void)absl::SimpleAtoi(rest, &usage.involuntary_context_switches);
    }
  }
}

// Reads lines such as "se.nr_migrations     :                    7".
void ReadSched(const std::string& task, ThreadUsage& usage) {
  std::ifstream file(task + "/sched");
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "se.nr_migrations")) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    int64_t count = 0;
    if (absl::ConsumePrefix(&rest, ":") && absl::SimpleAtoi(rest, &count)) {
      usage.cpu_migrations = count;
    }
    return;
  }
}

}  // namespace

std::set<int> ReadThreadIds(const std::string& root, pid_t pid) {
  std::error_code error;
  std::set<int> ids;
  for (std::filesystem::directory_iterator
           entry(ProcFolder(root, pid) + "/task", error),
       end;
       !error && entry != end; entry.increment(error)) {
    int id = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &id)) {
      ids.insert(id);
    }
  }
  return ids;
}

std::optional<ThreadUsage> ReadThreadUsage(const std::string& root, pid_t pid,
                                           int thread) {
  const std::string task = absl::StrCat(ProcFolder(root, pid), "/task/", thread);
  ThreadUsage usage;
  if (!ReadStat(task, usage)) return std::nullopt;
  ReadSchedstat(task, usage);
  ReadStatus(task, usage);
  ReadSched(task, usage);
  return usage;
}

}  // namespace distbench
