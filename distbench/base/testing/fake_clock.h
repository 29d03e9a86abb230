#ifndef DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_
#define DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_

#include "distbench/base/manual_clock.h"

namespace distbench {

// A clock for tests.
using FakeClock = ManualClock;

}  // namespace distbench

#endif  // DISTBENCH_BASE_TESTING_FAKE_CLOCK_H_
