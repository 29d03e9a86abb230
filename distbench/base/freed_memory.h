#ifndef DISTBENCH_BASE_FREED_MEMORY_H_
#define DISTBENCH_BASE_FREED_MEMORY_H_

namespace distbench {

// Gives memory that this process has freed back to the kernel. By itself the allocator keeps
// most of it, in as many pools as there were busy threads, and uses it again
// wherever it lies: a process's size would say little about what it holds, and
// pages that a NUMA-bound test put on one node would serve the next test on
// another. Takes milliseconds, or more after large tests; for the time between
// tests. Thread-safe: does nothing while another thread is at it.
void ReturnFreedMemory();

// Has this process keep what it frees from now on. By itself the allocator gives
// the memory of large messages back to the kernel after each RPC, and has it
// mapped and cleared again for the next.
void KeepFreedMemory();

}  // namespace distbench

#endif  // DISTBENCH_BASE_FREED_MEMORY_H_
