#ifndef DISTBENCH_NUMA_PROCESS_BINDING_H_
#define DISTBENCH_NUMA_PROCESS_BINDING_H_

#include "absl/status/statusor.h"
#include "distbench/numa/binding.h"

namespace distbench {

// Binds this process with all of its threads and memory, as numactl(8) would
// have. Threads and memory that are there already would stay where they are, so
// the program replaces itself by itself, bound (execve(2), same arguments),
// unless it was started so: does not return then. To be called as early as
// possible. The error says why it can not be done, and what the kernel said.
absl::StatusOr<ResolvedBinding> BindProcess(const NumaBinding& asked);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_PROCESS_BINDING_H_
