// One worker's share of the gRPC driver: a queue, and on it the client side
// and the server side.

#ifndef DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/channel.h"
#include "distbench/protocol/grpc/event_queue.h"
#include "distbench/protocol/grpc/inline_server.h"
#include "distbench/protocol/grpc/polling_client.h"
#include "distbench/protocol/grpc/wake_timer.h"

namespace distbench {

class GrpcTransport final : public Transport {
 public:
  // The timer must outlive the transport.
  GrpcTransport(WakeTimer& timer, int64_t spin_ns);
  // Drops what is in flight. Requires that the server was shut down.
  ~GrpcTransport() override;

  // For the driver, while the transport is not polled.

  EventQueue& queue() { return queue_; }
  void Serve(grpc_server* server, void* method) {
    server_.Serve(server, method);
  }
  void SetChannels(std::vector<Channel> channels) {
    client_.SetChannels(std::move(channels));
  }

  // For the driver, from any thread: makes the worker cancel everything. The
  // server must be shutting down.
  void BeginShutdown();
  // Until the worker has nothing in flight.
  void WaitUntilDrained() { drained_.WaitForNotification(); }

  bool Start(ClientCall* call) override { return client_.Start(call); }
  void Reply(ServerCall* call) override { server_.Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { queue_.Wake(); }
  void CancelCalls() override { client_.CancelAll(); }

 private:
  void ContinueShutdown();
  void NoticeDrained();

  EventQueue queue_;
  PollingClient client_;
  InlineServer server_;
  std::atomic<bool> shutting_down_ = false;
  bool closed_ = false;
  absl::Notification drained_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_GRPC_TRANSPORT_H_
