#ifndef DISTBENCH_BASE_FREED_MEMORY_H_
#define DISTBENCH_BASE_FREED_MEMORY_H_

namespace distbench {

// Returns freed memory of this process to the kernel. By default the allocator
// keeps most of it, in as many pools as there were busy threads, and reuses it
// wherever it lies: the size of the process would say little about what it
// holds, and pages that a NUMA-bound test put on one node would serve the next
// test on another. Takes milliseconds, or more after large tests, so call it
// between tests. Thread-safe: does nothing while another thread is doing it.
void ReturnFreedMemory();

// Makes this process keep the memory that it frees from now on. By default the
// allocator returns the memory of large messages to the kernel after each RPC,
// and has it mapped and cleared again for the next.
void KeepFreedMemory();

}  // namespace distbench

#endif  // DISTBENCH_BASE_FREED_MEMORY_H_
