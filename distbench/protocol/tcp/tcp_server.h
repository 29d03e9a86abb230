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

  // Serves a connection that was accepted.
  void Serve(FileDescriptor socket);

  // As Transport::Reply().
  void Reply(ServerCall* call);

  // When Work() has something to do: a monotonic time, or INT64_MAX.
  int64_t next_due_ns() const;

  // Closes connections that have not said hello in time.
  void Work(int64_t now_ns);

  // Destroys connections that are closed. Not while the poller runs, nor while
  // any connection is to be flushed.
  void Bury();

  // Closes all connections, and those that are served later.
  void Close();

 private:
  // ServerConnection::Listener
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
