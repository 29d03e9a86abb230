#include "distbench/hosting/memory_group.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::hosting {
namespace {

// Deeper than any group.
constexpr int kMostLevels = 64;

// Longer than any of the files that are read here.
constexpr size_t kMostBytes = 4096;

base::FileDescriptor OpenAt(int folder, const std::string& path) {
  return base::FileDescriptor(
      openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Each reading is a new one. Empty if the file's group was removed.
std::string Read(const base::FileDescriptor& file) {
  std::string text(kMostBytes, '\0');
  const ssize_t length = pread(file.get(), text.data(), text.size(), 0);
  text.resize(std::max<ssize_t>(length, 0));
  return text;
}

// Nothing: no limit.
std::optional<int64_t> TightestLimit(int folder) {
  std::optional<int64_t> tightest;
  std::string up;
  for (int level = 0; level < kMostLevels; ++level, up += "../") {
    // The hierarchy ends here.
    if (faccessat(folder, (up + "cgroup.procs").c_str(), F_OK, 0) != 0) break;
    const base::FileDescriptor file = OpenAt(folder, up + "memory.max");
    int64_t bytes = 0;
    if (!file.is_open() || !absl::SimpleAtoi(Read(file), &bytes)) continue;
    tightest = std::min(tightest.value_or(bytes), bytes);
  }
  return tightest;
}

}  // namespace

MemoryGroup MemoryGroup::Open(int folder) {
  if (folder < 0) return MemoryGroup(base::FileDescriptor(), "");
  const std::optional<int64_t> bytes = TightestLimit(folder);
  return MemoryGroup(OpenAt(folder, "memory.events"),
                     bytes.has_value()
                         ? absl::StrCat("whose memory.max is ",
                                        config::FormatSizeWithUnit(*bytes))
                         : "which has no memory.max");
}

MemoryGroup::MemoryGroup(base::FileDescriptor events, std::string limit)
    : events_(std::move(events)), limit_(std::move(limit)) {}

int64_t MemoryGroup::OomKills() const {
  if (!events_.is_open()) return 0;
  const std::string text = Read(events_);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int64_t count = 0;
    if (parts.first == "oom_kill" && absl::SimpleAtoi(parts.second, &count)) {
      return count;
    }
  }
  return 0;
}

}  // namespace distbench::hosting
