// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAMING_CALLS_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAMING_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::protocol {

// The client's side of RPCs that stream: each is a call of kStreamingRpcMethod.
// gRPC takes a message of a call once flow control has let it take the one
// before. Used by the thread that polls the queue.
class StreamingCalls {
 public:
  // The queue must outlive this.
  explicit StreamingCalls(EventQueue& queue);
  // Requires that nothing is in flight.
  ~StreamingCalls();

  StreamingCalls(const StreamingCalls&) = delete;
  StreamingCalls& operator=(const StreamingCalls&) = delete;

  // Sets the channels of each peer, which its calls take in turn. They must
  // stay where they are.
  void SetChannels(const std::vector<std::vector<Channel>>& channels);

  // As those of StreamTransport.
  void Open(ClientCall& call);
  int64_t Write(ClientCall& call, int64_t bytes, bool last);
  void Cancel(ClientCall& call);

  // As those of ClientSide.
  void CancelAll();
  void Close();
  void Abandon();
  size_t in_flight() const { return in_flight_.size(); }

 private:
  class Call;
  struct Peer {
    std::vector<grpc_channel*> channels;
    size_t next = 0;
  };

  void Remove(Call& call);

  EventQueue& queue_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<Call>> in_flight_;  // each knows its position
  // Calls whose end may not have returned.
  std::vector<std::unique_ptr<Call>> dead_;
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAMING_CALLS_H_
