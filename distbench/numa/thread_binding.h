// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Binds threads to CPUs and to the memory of NUMA nodes (sched_setaffinity(2),
// set_mempolicy(2)). Threads and processes inherit their creator's binding, and
// keep it across execve(2). Memory is placed when it is first touched; memory
// touched before the binding does not move.

#ifndef DISTBENCH_NUMA_THREAD_BINDING_H_
#define DISTBENCH_NUMA_THREAD_BINDING_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/index_list.h"
#include "distbench/numa/binding.h"

namespace distbench::numa {

// The binding of the calling thread, as the kernel reports it.
struct ThreadPlace {
  base::IndexSet cpus;
  int memory_mode = 0;  // MPOL_...
  base::IndexSet memory_nodes;
};
absl::StatusOr<ThreadPlace> PlaceOfThisThread();

// Binds the calling thread, and verifies the binding by reading it back. The
// error says what was requested and what the kernel answered; nothing has
// changed then.
absl::Status BindThisThread(const ResolvedBinding& binding);

// Whether the calling thread has this binding.
bool IsThisThreadBound(const ResolvedBinding& binding);

// Binds the calling thread during this object's lifetime. Must be destroyed by
// the same thread.
class ScopedThreadBinding {
 public:
  static absl::StatusOr<std::unique_ptr<ScopedThreadBinding>> Make(
      const ResolvedBinding& binding);
  ~ScopedThreadBinding();

  ScopedThreadBinding(const ScopedThreadBinding&) = delete;
  ScopedThreadBinding& operator=(const ScopedThreadBinding&) = delete;

 private:
  explicit ScopedThreadBinding(ThreadPlace before);

  const ThreadPlace before_;
};

// Binds this process with all of its threads and memory, as numactl(8) does.
// Existing threads and memory would not move, so the program binds itself and
// executes itself again (execve(2), with the same arguments). Returns only if
// the process already has the binding, or on error; the message says why the
// binding is impossible, with the kernel's error. Call it as early as possible.
absl::StatusOr<ResolvedBinding> BindProcess(const NumaBinding& asked);

}  // namespace distbench::numa

#endif  // DISTBENCH_NUMA_THREAD_BINDING_H_
