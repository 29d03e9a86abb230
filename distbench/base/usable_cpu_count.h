#ifndef DISTBENCH_BASE_USABLE_CPU_COUNT_H_
#define DISTBENCH_BASE_USABLE_CPU_COUNT_H_

namespace distbench {

// Returns the number of CPUs that the calling thread may run on; at least 1.
int UsableCpuCount();

}  // namespace distbench

#endif  // DISTBENCH_BASE_USABLE_CPU_COUNT_H_
