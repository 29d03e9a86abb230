#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_REFLECTION_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_REFLECTION_H_

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::external {

// Asks a server, by gRPC's reflection (v1 or v1alpha), for the files that
// define the service of a method, and for all files that these import. Returns
// a serialised FileDescriptorSet. The error names the server, and the services
// that it has if it does not know this one. Blocks until the deadline at most,
// or returns CANCELLED soon after `aborted` is set.
absl::StatusOr<std::string> AskForDescriptors(protocol::Channel channel,
                                              absl::string_view method_path,
                                              absl::Time deadline,
                                              const std::atomic<bool>& aborted);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_REFLECTION_H_
