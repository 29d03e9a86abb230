#include "distbench/node/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/node/proc_files.h"

namespace distbench {
namespace {

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// The lesser of two limits, of which 0 is none.
int64_t Tighter(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// The number in a file; 0 if there is no file, or "max" in it.
int64_t ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return 0;
  return number;
}

// The tightest limit of a group and those above it. In a container the path may
// be one of the host's, of which only the end, or nothing, is to be seen here:
// then what there is stands at the top.
int64_t TightestLimit(const std::string& mount, std::string group,
                      const std::string& file) {
  int64_t limit = 0;
  while (true) {
    limit = Tighter(limit, ReadNumber(absl::StrCat(mount, group, "/", file)));
    if (group.empty() || group == "/") return limit;
    group.resize(group.rfind('/'));
  }
}

// /proc/self/cgroup has a line per hierarchy, ID:CONTROLLERS:PATH; that of
// version 2 names no controllers.
int64_t ControlGroupLimit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  int64_t limit = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || !absl::StartsWith(parts[2], "/")) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    if (parts[1].empty()) {
      limit = Tighter(limit, TightestLimit(mount, parts[2], "memory.max"));
    } else if (std::count(controllers.begin(), controllers.end(), "memory")) {
      limit = Tighter(limit, TightestLimit(mount + "/memory", parts[2],
                                           "memory.limit_in_bytes"));
    }
  }
  return limit;
}

}  // namespace

int64_t AllowedMemoryBytes(const std::string& root) {
  return Tighter(ReadMemInfoBytes(root, "MemTotal"), ControlGroupLimit(root));
}

MemoryLimit::MemoryLimit(int64_t max_bytes, std::string root)
    : is_default_(max_bytes == 0),
      root_(std::move(root)),
      max_bytes_(is_default_ ? AllowedMemoryBytes(root_) / 10 * 9 : max_bytes),
      least_available_(is_default_ ? ReadMemInfoBytes(root_, "MemTotal") / 20
                                   : 0) {}

absl::Status MemoryLimit::Check() const {
  const int64_t bytes = ReadResidentBytes(root_);
  if (max_bytes_ == 0 || bytes <= max_bytes_) return CheckHost();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too much memory used: ", Mebibytes(bytes), ", but ",
      is_default_ ? "nine tenths of what the host or its control group allows "
                    "are "
                  : "the test's overload_limits allow ",
      Mebibytes(max_bytes_),
      "; have fewer or smaller RPCs in flight, fewer samples "
      "(sample_memory_bytes) or fewer instances on the node, or raise "
      "max_memory_bytes"));
}

absl::Status MemoryLimit::CheckHost() const {
  const int64_t available = ReadMemInfoBytes(root_, "MemAvailable");
  if (available == 0 || available >= least_available_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Too little memory left on the host: ", Mebibytes(available),
      ", while this process uses ", Mebibytes(ReadResidentBytes(root_)),
      "; below a twentieth of all it begins to swap, or worse: look for what "
      "uses the rest, or set the test's overload_limits.max_memory_bytes"));
}

}  // namespace distbench
