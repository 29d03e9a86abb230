#ifndef DISTBENCH_BASE_THREAD_COUNT_H_
#define DISTBENCH_BASE_THREAD_COUNT_H_

#include <cstdint>

namespace distbench {

// Threads of this process, those of libraries included. Thread-safe.
int64_t ProcessThreadCount();

}  // namespace distbench

#endif  // DISTBENCH_BASE_THREAD_COUNT_H_
