#ifndef DISTBENCH_SEQUENCER_GRPC_STATUS_H_
#define DISTBENCH_SEQUENCER_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace distbench {

// The codes have the same numbers.
inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_GRPC_STATUS_H_
