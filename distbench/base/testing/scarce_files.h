// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_SCARCE_FILES_H_
#define DISTBENCH_BASE_TESTING_SCARCE_FILES_H_

#include <sys/resource.h>

namespace distbench::base {

// For tests: while this lives, the process can open no files.
class ScarceFiles {
 public:
  ScarceFiles() {
    getrlimit(RLIMIT_NOFILE, &old_limit_);
    rlimit none = old_limit_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~ScarceFiles() { setrlimit(RLIMIT_NOFILE, &old_limit_); }
  ScarceFiles(const ScarceFiles&) = delete;
  ScarceFiles& operator=(const ScarceFiles&) = delete;

 private:
  rlimit old_limit_;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_SCARCE_FILES_H_
