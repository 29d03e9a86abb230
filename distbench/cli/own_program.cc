#include "distbench/cli/own_program.h"

#include <unistd.h>

#include <climits>

#include "absl/status/status.h"

namespace distbench::cli {

absl::StatusOr<std::string> OwnProgram() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) {
    return absl::NotFoundError(
        "cannot find distbench's own binary through /proc/self/exe");
  }
  return std::string(path, length);
}

}  // namespace distbench::cli
