// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_WITHOUT_PRIVILEGES_H_
#define DISTBENCH_BASE_TESTING_WITHOUT_PRIVILEGES_H_

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"

namespace distbench::base {

// For tests: runs `body` on a new thread that has no capabilities, and returns
// when it has ended. File permissions then apply to root as well.
template <typename Body>
void WithoutPrivileges(Body body) {
  std::thread([&body] {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, /*pid=*/0};
    const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    // The raw system call changes the calling thread only.
    ASSERT_EQ(syscall(SYS_capset, &header, none), 0);
    body();
  }).join();
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_WITHOUT_PRIVILEGES_H_
