#ifndef DISTBENCH_TEST_BUILDER_PROTOCOLS_GRPC_H_
#define DISTBENCH_TEST_BUILDER_PROTOCOLS_GRPC_H_

#include "test_builder/protocols/protocol.h"

namespace distbench {

// gRPC with its threading models.
Protocol GrpcProtocol();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PROTOCOLS_GRPC_H_
