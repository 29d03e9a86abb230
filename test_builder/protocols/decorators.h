// Drivers that work through another driver.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_DECORATORS_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_DECORATORS_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// Alternates between two clients of another driver.
Protocol DoubleBarrelProtocol();

// Counts the RPCs of another driver.
Protocol ComposableRpcCounterProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_DECORATORS_H_
