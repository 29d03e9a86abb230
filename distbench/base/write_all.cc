#include "distbench/base/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace distbench::base {

bool WriteAll(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(count);
  }
  return true;
}

}  // namespace distbench::base
