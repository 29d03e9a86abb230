// The server side of one worker of the tcp driver.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_SERVER_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_SERVER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/server_connection.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench {

// Used by its worker's thread.
class TcpServer final : private ServerConnection::Listener {
 public:
  explicit TcpServer(ConnectionContext& context) : context_(context) {}

  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

  // Serves an accepted connection.
  void Serve(FileDescriptor socket);

  // As Transport::Reply().
  void Reply(ServerCall* call);

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const;

  // Closes connections whose hello is late.
  void Work(int64_t now_ns);

  // Destroys closed connections. Must not be called while the poller runs or
  // while any connection is waiting to be flushed.
  void Bury();

  // Closes all connections, including those that arrive later.
  void Close();

 private:
  // ServerConnection::Listener.
  void OnHelloOver(ServerConnection& connection) override;
  void OnClosed(ServerConnection& connection) override;

  ConnectionContext& context_;
  ObjectPool<TcpRequest> requests_;
  std::vector<std::unique_ptr<ServerConnection>> connections_;
  std::vector<ServerConnection*> awaiting_hello_;  // the earliest due first
  bool some_are_closed_ = false;
  bool closed_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_SERVER_H_
