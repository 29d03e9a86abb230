#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_MERCURY_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_MERCURY_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// The Mercury RPC framework for high-performance computing.
Protocol MercuryProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_MERCURY_H_
