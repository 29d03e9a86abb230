// distbench's own drivers.

#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_PLAIN_DRIVERS_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_PLAIN_DRIVERS_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// Messages over plain TCP connections.
Protocol TcpProtocol();

// Messages within one process.
Protocol LoopbackProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_PLAIN_DRIVERS_H_
