#ifndef DISTBENCH_NUMA_PROCESS_BINDING_H_
#define DISTBENCH_NUMA_PROCESS_BINDING_H_

#include "absl/status/statusor.h"
#include "distbench/numa/binding.h"

namespace distbench {

// Binds this process with all of its threads and memory, as numactl(8) does.
// Existing threads and memory would not move, so the program binds itself and
// executes itself again (execve(2), with the same arguments). Returns only if
// the process already has the binding, or on error; the message says why the
// binding is impossible, with the kernel's error. Call it as early as possible.
absl::StatusOr<ResolvedBinding> BindProcess(const NumaBinding& asked);

}  // namespace distbench

#endif  // DISTBENCH_NUMA_PROCESS_BINDING_H_
