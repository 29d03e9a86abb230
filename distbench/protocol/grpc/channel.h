// Connections of a gRPC driver to its peers.

#ifndef DISTBENCH_PROTOCOL_GRPC_CHANNEL_H_
#define DISTBENCH_PROTOCOL_GRPC_CHANNEL_H_

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace distbench {

// The method of all data RPCs.
inline constexpr char kGenericRpcMethod[] = "/distbench.Traffic/GenericRpc";

// A separate connection to one peer, which shares nothing within the process.
class Channel {
 public:
  // Does not connect yet. `target` is what a peer's Listen() returned.
  Channel(const std::string& target, const grpc_channel_args& args,
          grpc_channel_credentials* credentials);

  const std::string& target() const { return target_; }
  grpc_channel* get() const { return channel_.get(); }

  // Releases the channel to the callback API, which then owns it.
  grpc_channel* Release() && { return channel_.release(); }

  // Makes a call of kGenericRpcMethod whose completions go to `queue`.
  grpc_call* MakeCall(grpc_completion_queue* queue, gpr_timespec deadline) {
    return grpc_channel_create_registered_call(channel_.get(), nullptr,
                                               GRPC_PROPAGATE_DEFAULTS, queue,
                                               method_, deadline, nullptr);
  }

 private:
  struct Destroy {
    void operator()(grpc_channel* channel) const {
      grpc_channel_destroy(channel);
    }
  };

  std::string target_;
  std::unique_ptr<grpc_channel, Destroy> channel_;
  void* method_;
};

// Connects all channels concurrently. The error names the peers that could not
// be reached. Returns CANCELLED soon after `aborted` is set.
absl::Status WaitForConnections(absl::Span<const Channel* const> channels,
                                absl::Time deadline,
                                const std::atomic<bool>& aborted);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_CHANNEL_H_
