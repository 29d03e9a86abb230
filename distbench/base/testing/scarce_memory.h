// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_SCARCE_MEMORY_H_
#define DISTBENCH_BASE_TESTING_SCARCE_MEMORY_H_

#include <pthread.h>
#include <sys/resource.h>

namespace distbench::base {

// Whether this is built with a sanitizer that ends a process that runs out of
// memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// For tests: while this lives, the process can allocate this many more bytes.
// Unusable with sanitizers, which then end the process.
class ScarceMemory {
 public:
  explicit ScarceMemory(rlim_t bytes);
  ~ScarceMemory();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

 private:
  rlimit old_limit_;
};

// For tests: while this lives, the process can start this many more threads. It
// limits memory, because limits of threads do not apply to root: stacks are
// huge, and there is room for this many.
class ScarceThreads {
 public:
  explicit ScarceThreads(int count);
  ~ScarceThreads();
  ScarceThreads(const ScarceThreads&) = delete;
  ScarceThreads& operator=(const ScarceThreads&) = delete;

 private:
  const ScarceMemory memory_;
  pthread_attr_t old_attributes_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_SCARCE_MEMORY_H_
