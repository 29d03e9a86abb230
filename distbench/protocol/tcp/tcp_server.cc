#include "distbench/protocol/tcp/tcp_server.h"

#include <algorithm>
#include <utility>

#include "distbench/base/clock.h"

namespace distbench {

void TcpServer::Serve(FileDescriptor socket) {
  if (closed_) return;
  const int64_t due_ns =
      RealClock().MonotonicNs() + context_.settings.handshake_timeout_ns;
  ServerConnection::Listener& listener = *this;
  connections_.push_back(std::make_unique<ServerConnection>(
      context_, std::move(socket), due_ns, requests_, listener));
  awaiting_hello_.push_back(connections_.back().get());
}

void TcpServer::Reply(ServerCall* call) {
  auto* request = static_cast<TcpRequest*>(call);
  request->connection->Reply(*request);
}

int64_t TcpServer::next_due_ns() const {
  return awaiting_hello_.empty() ? INT64_MAX
                                 : awaiting_hello_.front()->hello_due_ns();
}

void TcpServer::Work(int64_t now_ns) {
  // TimeOut() removes the connection from the list.
  while (next_due_ns() <= now_ns) awaiting_hello_.front()->TimeOut();
}

void TcpServer::Bury() {
  if (!some_are_closed_) return;
  some_are_closed_ = false;
  const auto is_dead = [](const auto& connection) {
    return connection->is_closed() && connection->pending_requests() == 0;
  };
  connections_.erase(
      std::remove_if(connections_.begin(), connections_.end(), is_dead),
      connections_.end());
}

void TcpServer::Close() {
  closed_ = true;
  for (const auto& connection : connections_) connection->Finish();
}

void TcpServer::OnHelloOver(ServerConnection& connection) {
  awaiting_hello_.erase(
      std::find(awaiting_hello_.begin(), awaiting_hello_.end(), &connection));
}

void TcpServer::OnClosed(ServerConnection&) { some_are_closed_ = true; }

}  // namespace distbench
