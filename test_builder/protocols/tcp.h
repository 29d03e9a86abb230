#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_TCP_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_TCP_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// Messages over plain TCP connections.
Protocol TcpProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_TCP_H_
