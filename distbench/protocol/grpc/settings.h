// What a traffic config can set of the gRPC driver.

#ifndef DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_
#define DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_

#include <grpc/grpc.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/config/driver_options.h"

namespace distbench {

// gRPC channel arguments by name.
class ChannelArguments {
 public:
  void Set(const std::string& name, DriverOptions::Value value);

  // Points into this object.
  std::vector<grpc_arg> AsGrpc() const;

 private:
  std::map<std::string, DriverOptions::Value> values_;
};

struct GrpcSettings {
  ChannelArguments client;
  ChannelArguments server;

  // How long a worker polls before it blocks.
  int64_t spin_ns = 0;
};

// Settings named "grpc.*" become channel arguments, on top of those that the
// driver needs. The error names the setting, and what would be right.
absl::StatusOr<GrpcSettings> ParseGrpcSettings(const DriverOptions& options);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_SETTINGS_H_
