// Binds threads to CPUs and to the memory of NUMA nodes (sched_setaffinity(2),
// set_mempolicy(2)). Threads and processes inherit what their creator is bound
// to; programs keep it when they are replaced by execve(2). Memory gets its
// place when it is first touched: what was touched before stays.

#ifndef DISTBENCH_NUMA_THREAD_BINDING_H_
#define DISTBENCH_NUMA_THREAD_BINDING_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/index_list.h"
#include "distbench/numa/binding.h"

namespace distbench {

// What the calling thread is bound to, as the kernel says.
struct ThreadPlace {
  IndexSet cpus;
  int memory_mode = 0;  // MPOL_...
  IndexSet memory_nodes;
};
absl::StatusOr<ThreadPlace> PlaceOfThisThread();

// Binds the calling thread, and reads back whether the kernel did what it was
// told. The error says what was asked for and what the kernel said; then
// nothing has changed.
absl::Status BindThisThread(const ResolvedBinding& binding);

// Whether the calling thread is bound so.
bool IsThisThreadBound(const ResolvedBinding& binding);

// Binds the calling thread for as long as this lives, which must be destroyed
// by the same thread.
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

}  // namespace distbench

#endif  // DISTBENCH_NUMA_THREAD_BINDING_H_
