#ifndef DISTBENCH_BASE_MOUNT_TABLE_H_
#define DISTBENCH_BASE_MOUNT_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::base {

// A mount, as a line of /proc/PID/mountinfo describes it.
struct Mount {
  std::string root;     // what of its file system is mounted, such as "/"
  std::string point;    // where
  std::string type;     // "ext4"
  std::string source;   // "/dev/sda1"; depends on the type
  std::string options;  // of the file system: "rw,cpu"; may be empty
};

// The mounts in the order of the text; of several on one point, the last hides
// the others. Lines that are no mounts are left out.
std::vector<Mount> ParseMountInfo(absl::string_view text);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_MOUNT_TABLE_H_
