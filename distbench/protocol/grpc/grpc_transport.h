// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One worker's share of the gRPC driver: a queue with a client side and a
// server side.

#ifndef DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/client/streaming_calls.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/streaming_requests.h"
#include "distbench/protocol/grpc/settings.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/protocol/streams.h"

namespace distbench::protocol {

class GrpcTransport final : public Transport, private StreamTransport {
 public:
  // For the alarm, see EventQueue. What is passed by reference or pointer,
  // except for the settings, must outlive the transport. `callbacks` is needed
  // for ClientType::kCallback.
  GrpcTransport(std::unique_ptr<WakeTimer::Alarm> alarm,
                const GrpcSettings& settings, const CallbackQueue* callbacks,
                StreamCounts& counts);
  // Drops what is in flight. Requires that the server side is drained.
  ~GrpcTransport() override;

  // These are for the driver, while the transport is not polled.

  // Must be called once, before anything else is done with the transport.
  void SetServerSide(std::unique_ptr<ServerSide> server) {
    server_ = std::move(server);
  }
  void SetChannels(std::vector<std::vector<Channel>> channels);
  // After SetChannels(); see ClientSide.
  void LimitChannels(int64_t calls_per_channel,
                     std::vector<ChannelMaker> makers) {
    client_->LimitChannels(calls_per_channel, std::move(makers));
  }
  int64_t renewed_channels() const { return client_->renewed_channels(); }
  // Cancels everything without events. The server must be shutting down.
  void Abandon();
  bool NothingInFlight() const;

  // Makes the worker cancel everything. The server must be shutting down. The
  // driver may call it on any thread.
  void BeginShutdown();
  // Waits until the worker has nothing in flight.
  void WaitUntilDrained() { drained_.WaitForNotification(); }

  bool Start(ClientCall* call) override { return client_->Start(call); }
  void Reply(ServerCall* call) override { server_->Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { queue_.Wake(); }
  void RunTurnOrWake() override { queue_.RunTurnOrWake(); }
  bool Cancel(ClientCall& call) override {
    client_->Cancel(call);
    return true;
  }
  void CancelCalls() override {
    client_->CancelAll();
    streaming_calls_.CancelAll();
  }
  StreamTransport* streams() override {
    return client_streams_ || server_->streams() != nullptr ? this : nullptr;
  }
  EventQueue* grpc_queue() override { return &queue_; }

 private:
  // StreamTransport
  void Open(ClientCall* call) override { streaming_calls_.Open(*call); }
  int64_t Write(ClientCall& call, int64_t bytes, bool last) override {
    return streaming_calls_.Write(call, bytes, last);
  }
  void CancelStream(ClientCall& call) override {
    streaming_calls_.Cancel(call);
  }
  int64_t Write(ServerCall& call, int64_t bytes) override {
    return server_->streams()->Write(call, bytes);
  }
  void Finish(ServerCall* call, int64_t last_message_bytes,
              int64_t blocked_ns) override {
    server_->streams()->Finish(*call, last_message_bytes, blocked_ns);
  }

  void ContinueShutdown();
  void NoticeDrained();

  EventQueue queue_;
  const bool client_streams_;  // whether its RPCs may stream
  StreamingCalls streaming_calls_;
  const std::unique_ptr<ClientSide> client_;
  std::unique_ptr<ServerSide> server_;
  std::atomic<bool> shutting_down_ = false;
  bool closed_ = false;
  absl::Notification drained_;
};
}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_
