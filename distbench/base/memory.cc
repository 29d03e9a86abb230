#include "distbench/base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <mutex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/control_group.h"
#include "distbench/base/files.h"

namespace distbench::base {
namespace {

// The lower of two limits, where 0 means no limit.
int64_t Tighter(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

int64_t ControlGroupLimit(const std::string& root) {
  int64_t limit = 0;
  for (const ControlGroupFolder& group : ControlGroupsOf("memory", root)) {
    const char* const file =
        group.version == 1 ? "memory.limit_in_bytes" : "memory.max";
    limit = Tighter(
        limit, ReadNumber(absl::StrCat(group.folder, "/", file)).value_or(0));
  }
  return limit;
}

}  // namespace

int64_t ReadMemInfoBytes(const std::string& root, absl::string_view field) {
  const std::string text = ReadTextOf(root + "/proc/meminfo", field);
  int64_t kib = 0;
  return absl::SimpleAtoi(absl::StripSuffix(text, " kB"), &kib) ? kib * 1024
                                                                : 0;
}

int64_t ReadOomKills(const std::string& root) {
  return ReadNumberOf(root + "/proc/vmstat", "oom_kill").value_or(0);
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
