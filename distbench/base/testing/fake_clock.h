// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_
#define DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_

#include "distbench/base/clock.h"

namespace distbench::base {

// A clock for tests.
using FakeClock = ManualClock;

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_
