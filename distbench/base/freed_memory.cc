#include "distbench/base/freed_memory.h"

#include <malloc.h>

#include <mutex>

namespace distbench {

void ReturnFreedMemory() {
  static std::mutex mutex;
  const std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) malloc_trim(/*pad=*/0);
}

void KeepFreedMemory() {
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

}  // namespace distbench
