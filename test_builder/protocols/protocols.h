// The protocols, as test_builder's command line has them. registry.h finds them
// by name.

#ifndef TEST_BUILDER_PROTOCOLS_PROTOCOLS_H_
#define TEST_BUILDER_PROTOCOLS_PROTOCOLS_H_

#include "test_builder/protocols/protocol.h"

namespace distbench::test_builder {

// gRPC with its threading models.
Protocol GrpcProtocol();

// Messages on gRPC streams.
Protocol GrpcStreamProtocol();

// Messages over plain TCP connections.
Protocol TcpProtocol();

// Messages within one process.
Protocol LoopbackProtocol();

// The Homa transport.
Protocol HomaProtocol();

// The Mercury RPC framework for high-performance computing.
Protocol MercuryProtocol();

// Alternates between two clients of another driver.
Protocol DoubleBarrelProtocol();

// Counts the RPCs of another driver.
Protocol ComposableRpcCounterProtocol();

}  // namespace distbench::test_builder

#endif  // TEST_BUILDER_PROTOCOLS_PROTOCOLS_H_
