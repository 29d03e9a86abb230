// One worker's share of the tcp driver: a poller, and at it the client side and
// the server side.
//
// A turn of Poll() writes what has been gathered since the last, one write per
// connection, and then reads once from each connection that has something. So
// requests and replies of one turn share a write, and what one read brings is
// stamped by one look at the clock.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/acceptor.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/tcp_client.h"
#include "distbench/protocol/tcp/tcp_server.h"

namespace distbench {

class TcpTransport final : public Transport {
 public:
  // What is given by reference must outlive the transport.
  TcpTransport(const TcpSettings& settings, const ConnectionSecurity& security,
               StreamCounters& counters);

  // For the driver, before the transport is polled.
  void Accept(FileDescriptor listener, Acceptor::OnAccepted on_accepted);

  // For the driver and the acceptor, from any thread: what the worker shall
  // take over.
  void Serve(FileDescriptor socket);
  void SetPeers(std::vector<TcpPeer> peers);

  // For the driver, from any thread: makes the worker close everything.
  void BeginShutdown();
  // Until the worker has done so and delivered its last events.
  void WaitUntilDrained() { drained_.WaitForNotification(); }

  bool Start(ClientCall* call) override;
  void Reply(ServerCall* call) override { server_.Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { context_.poller.Wake(); }
  void CancelCalls() override { client_.CancelAll(); }

 private:
  // What other threads have left for the worker.
  struct Inbox {
    std::vector<FileDescriptor> sockets;
    std::optional<std::vector<TcpPeer>> peers;
    bool shutdown = false;
  };

  template <typename Change>
  void Post(const Change& change);
  void TakeInbox();
  void Shutdown();
  void FlushAll();
  int64_t next_due_ns() const;
  void Work();
  void NoticeDrained();

  ConnectionContext context_;
  TcpClient client_;
  TcpServer server_;
  std::optional<Acceptor> acceptor_;  // one transport's of a driver

  std::atomic<bool> has_mail_ = false;
  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);

  bool shutting_down_ = false;
  absl::Notification drained_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_TRANSPORT_H_
