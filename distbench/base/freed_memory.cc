#include "distbench/base/freed_memory.h"

#include <malloc.h>

namespace distbench {

void ReturnFreedMemory() { malloc_trim(/*pad=*/0); }

}  // namespace distbench
