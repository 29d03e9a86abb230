#include "distbench/base/freed_memory.h"

#include <malloc.h>

#include <mutex>

namespace distbench {

void ReturnFreedMemory() {
  static std::mutex mutex;
  const std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) malloc_trim(/*pad=*/0);
}

}  // namespace distbench
