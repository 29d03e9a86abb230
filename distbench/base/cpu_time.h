#ifndef DISTBENCH_BASE_CPU_TIME_H_
#define DISTBENCH_BASE_CPU_TIME_H_

namespace distbench {

// CPU time of this process, user plus system, in seconds.
double ProcessCpuSeconds();

}  // namespace distbench

#endif  // DISTBENCH_BASE_CPU_TIME_H_
