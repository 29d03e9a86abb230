#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_LIBRARY_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_LIBRARY_H_

#include <grpc/grpc.h>

namespace distbench::protocol {

// Keeps gRPC initialised during its lifetime.
class GrpcLibrary {
 public:
  GrpcLibrary() { grpc_init(); }
  ~GrpcLibrary() { grpc_shutdown(); }
  GrpcLibrary(const GrpcLibrary&) = delete;
  GrpcLibrary& operator=(const GrpcLibrary&) = delete;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_LIBRARY_H_
