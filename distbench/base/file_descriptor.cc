#include "distbench/base/file_descriptor.h"

#include <unistd.h>

namespace distbench {

void FileDescriptor::Close() {
  if (is_open()) close(std::exchange(fd_, kNone));
}

}  // namespace distbench
