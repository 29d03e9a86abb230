#include "distbench/base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <mutex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/control_group.h"

namespace distbench::base {
namespace {

// The lower of two limits, where 0 means no limit.
int64_t Tighter(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// The number in a file; 0 if there is no file or it contains "max".
int64_t ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return 0;
  return number;
}

int64_t ControlGroupLimit(const std::string& root) {
  int64_t limit = 0;
  for (const ControlGroupFolder& group : ControlGroupsOf("memory", root)) {
    const char* const file =
        group.version == 1 ? "memory.limit_in_bytes" : "memory.max";
    limit = Tighter(limit, ReadNumber(absl::StrCat(group.folder, "/", file)));
  }
  return limit;
}

}  // namespace

int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field) {
  std::ifstream file(root + "/proc/meminfo");
  const std::string wanted = absl::StrCat(field, ":");
  std::string name;
  int64_t kib = 0;
  std::string rest;
  while (file >> name >> kib && std::getline(file, rest)) {
    if (name == wanted) return kib * 1024;
  }
  return 0;
}

int64_t ReadOomKills(const std::string& root) {
  std::ifstream file(root + "/proc/vmstat");
  std::string name;
  int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

int64_t AllowedMemoryBytes(const std::string& root) {
  return Tighter(ReadMemInfoBytes(root, "MemTotal"), ControlGroupLimit(root));
}

void ReturnFreedMemory() {
  static std::mutex mutex;
  const std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) malloc_trim(/*pad=*/0);
}

void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace distbench::base
