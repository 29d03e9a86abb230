// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/testing/scarce_memory.h"

#include <unistd.h>

#include <fstream>

#include "glog/logging.h"

namespace distbench::base {
namespace {

// Much more than anything else that a test allocates in the meantime.
constexpr rlim_t kStackBytes = rlim_t{4} << 30;

rlim_t MappedBytes() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  CHECK(statm >> pages);
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

ScarceMemory::ScarceMemory(rlim_t bytes) {
  PCHECK(getrlimit(RLIMIT_AS, &old_limit_) == 0);
  rlimit limit = old_limit_;
  limit.rlim_cur = MappedBytes() + bytes;
  PCHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

ScarceMemory::~ScarceMemory() {
  PCHECK(setrlimit(RLIMIT_AS, &old_limit_) == 0);
}

ScarceThreads::ScarceThreads(int count)
    : memory_(count * kStackBytes + kStackBytes / 2) {
  CHECK_EQ(pthread_getattr_default_np(&old_attributes_), 0);
  pthread_attr_t attributes;
  CHECK_EQ(pthread_getattr_default_np(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  CHECK_EQ(pthread_setattr_default_np(&attributes), 0);
  pthread_attr_destroy(&attributes);
}

ScarceThreads::~ScarceThreads() {
  CHECK_EQ(pthread_setattr_default_np(&old_attributes_), 0);
  pthread_attr_destroy(&old_attributes_);
}

}  // namespace distbench::base
