// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/queue/callback_queue.h"

#include <grpcpp/completion_queue.h>
#include <grpcpp/support/client_callback.h>

namespace grpc::internal {

// gRPC lets the parts that make calls with callbacks ask a channel for its
// queue, and nobody else. This is such a part, for a type of response of ours.
// The name is internal: a version of gRPC that has another does not compile.
template <>
class ClientCallbackReaderFactory<distbench::protocol::CallbackQueue> {
 public:
  static grpc_completion_queue* QueueOf(ChannelInterface& channel) {
    return channel.CallbackCQ()->cq();
  }
};

}  // namespace grpc::internal

namespace distbench::protocol {

using Parts = grpc::internal::ClientCallbackReaderFactory<CallbackQueue>;

CallbackQueue::CallbackQueue()
    : channel_(grpc::CreateChannelInternal(
          /*host=*/"",
          grpc_lame_client_channel_create("callbacks", GRPC_STATUS_CANCELLED,
                                          ""),
          {})),
      queue_(Parts::QueueOf(*channel_)) {}

}  // namespace distbench::protocol
