// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_CLIENT_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_CLIENT_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {

// Makes a channel like an earlier one.
using ChannelMaker = std::function<Channel()>;

// The client side of a transport: makes its calls, and brings their ends to the
// worker. Used by the thread that polls the transport's queue.
class ClientSide {
 public:
  // Requires that nothing is in flight.
  virtual ~ClientSide() = default;

  // Sets the channels of each peer (at least one), which its calls take in
  // turn. Replaces earlier channels.
  virtual void SetChannels(std::vector<std::vector<Channel>> channels) = 0;

  // Makes a channel for each number of calls. `makers` make channels of each
  // peer. Call it after SetChannels(), whose channels then get no calls: they
  // have served to find and verify the servers.
  virtual void LimitChannels(int64_t /*calls_per_channel*/,
                             std::vector<ChannelMaker> /*makers*/) {}

  // The number of channels that took the place of another.
  virtual int64_t renewed_channels() const { return 0; }

  // As Transport::Start().
  virtual bool Start(ClientCall* call) = 0;

  // Called before each poll of the queue. Delivers calls that ended without an
  // event of the queue. Returns the monotonic time by which it must be called
  // again, or INT64_MAX.
  virtual int64_t Work(TransportEvents& /*events*/) { return INT64_MAX; }

  // As Transport::Cancel().
  virtual void Cancel(ClientCall& call) = 0;
  virtual void CancelAll() = 0;

  // Cancels all calls, including those that are started later.
  virtual void Close() = 0;

  // As Close(), but the ClientCalls in flight are not touched any more.
  virtual void Abandon() = 0;

  virtual size_t in_flight() const = 0;
};

// The client side that makes a call of gRPC for each RPC. With client_type
// "polling" `callbacks` is null: calls complete on the worker's own queue. With
// client_type "callback" they complete on a thread of gRPC, which records the
// time, from which service times are computed, and posts the call to the
// worker's queue; if the worker sleeps, it runs the worker's turn. The
// arguments must outlive the client side.
std::unique_ptr<ClientSide> MakeUnaryClient(EventQueue& queue,
                                            const CallbackQueue* callbacks);

struct StreamSettings {
  // Streams from each worker to each peer; at least 1.
  int streams = 1;

  // A stream is replaced after this many messages; 0: never.
  int64_t messages_per_stream = 0;

  // Messages that may wait to be sent on a stream before the client accepts no
  // more calls for it, or the server no more requests from it.
  int64_t send_queue_messages = config::kSendQueueMessages;
};

// The client side of the driver grpc_stream: calls are messages on streams.
// They complete on the worker's own queue, whose turns must not be lent,
// because the queue does not know the calls' deadlines. The queue and the
// counts must outlive the client side.
std::unique_ptr<ClientSide> MakeStreamClient(EventQueue& queue,
                                             const StreamSettings& settings,
                                             StreamCounts& counts);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_CLIENT_SIDE_H_
