#include "distbench/base/mount_table.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"

namespace distbench::base {
namespace {

// The kernel writes white space and backslashes as "\040".
std::string WithoutEscapes(absl::string_view field) {
  std::string text;
  return absl::CUnescape(field, &text) ? text : std::string(field);
}

}  // namespace

// A line has a part about the mount, with any number of fields at its end, and
// one about the file system.
std::vector<Mount> ParseMountInfo(absl::string_view text) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (parts.size() != 2) continue;
    const std::vector<absl::string_view> place = absl::StrSplit(parts[0], ' ');
    const std::vector<absl::string_view> system = absl::StrSplit(parts[1], ' ');
    if (place.size() < 5 || system.size() < 2) continue;
    mounts.push_back(
        {.root = WithoutEscapes(place[3]),
         .point = WithoutEscapes(place[4]),
         .type = std::string(system[0]),
         .source = WithoutEscapes(system[1]),
         .options = system.size() < 3 ? "" : std::string(system[2])});
  }
  return mounts;
}

}  // namespace distbench::base
