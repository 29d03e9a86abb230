#ifndef DISTBENCH_BASE_THREAD_COUNT_H_
#define DISTBENCH_BASE_THREAD_COUNT_H_

#include <sys/types.h>

#include <cstdint>

namespace distbench {

// Returns the number of threads of a process, including those of libraries; pid
// 0 stands for this process. 0 if there is no such process. Thread-safe.
int64_t ProcessThreadCount(pid_t pid = 0);

}  // namespace distbench

#endif  // DISTBENCH_BASE_THREAD_COUNT_H_
