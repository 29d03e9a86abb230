// One worker's share of the tcp driver: a poller with a client side and a
// server side.
//
// Each turn of Poll() writes what has been queued since the last turn, one
// write per connection, and then reads once from each connection that has data.
// So the requests and replies of one turn share a write, and everything that
// one read brings gets the same timestamp.

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
  // Arguments passed by reference must outlive the transport.
  TcpTransport(const TcpSettings& settings, const ConnectionSecurity& security,
               StreamCounters& counters);

  // For the driver, before the transport is polled.
  void Accept(FileDescriptor listener, Acceptor::OnAccepted on_accepted);

  // Hands something over to the worker. The driver and the acceptor may call
  // these on any thread.
  void Serve(FileDescriptor socket);
  void SetPeers(std::vector<TcpPeer> peers);

  // Makes the worker close everything. The driver may call it on any thread.
  void BeginShutdown();
  // Waits until the worker has closed everything and delivered its last events.
  void WaitUntilDrained() { drained_.WaitForNotification(); }

  bool Start(ClientCall* call) override;
  void Reply(ServerCall* call) override { server_.Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { context_.poller.Wake(); }
  void CancelCalls() override { client_.CancelAll(); }

 private:
  // Work that other threads have left for the worker.
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
  std::optional<Acceptor> acceptor_;  // for one transport per driver

  std::atomic<bool> has_mail_ = false;
  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);

  bool shutting_down_ = false;
  absl::Notification drained_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_TRANSPORT_H_
