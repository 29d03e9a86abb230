#include "distbench/node/host_info.h"

#include <unistd.h>

namespace distbench {

std::string Hostname() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name;
}

}  // namespace distbench
