// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One worker's share of a driver over TCP connections: a poller with a client
// side and a server side.
//
// Each turn of Poll() writes what has been queued since the last turn, one
// write per connection, and then reads once from each connection that has data.
// If that is much (turn_work.h), the next turn goes on. So the requests and
// replies of one turn share a write, and everything that one read brings gets
// the same timestamp.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_TRANSPORT_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_server.h"
#include "distbench/protocol/tcp/turn_work.h"

namespace distbench::protocol {

// A transport as its driver sees it.
class SocketTransport : public Transport {
 public:
  // For the driver, before the transport is polled. Open() comes first. The
  // errors, of descriptors that have run out, name the remedy.
  virtual absl::Status Open() = 0;
  virtual absl::Status Accept(base::FileDescriptor listener,
                              Acceptor::OnAccepted on_accepted) = 0;

  // Hands something over to the worker. The driver and the acceptor may call
  // these on any thread.
  virtual void Serve(base::FileDescriptor socket) = 0;
  virtual void SetPeers(std::vector<StreamPeer> peers) = 0;

  // Makes the worker close everything. The driver may call it on any thread.
  virtual void BeginShutdown() = 0;
  // Waits until the worker has closed everything and delivered its last events.
  virtual void WaitUntilDrained() = 0;
};

// Client and Server are a StreamClient and a StreamServer with a common
// Context.
template <typename Client, typename Server>
class SocketTransportOf final : public SocketTransport {
 public:
  // Makes the context of all connections.
  template <typename... Arguments>
  explicit SocketTransportOf(Arguments&&... arguments)
      : context_(std::forward<Arguments>(arguments)...),
        client_(context_, context_.settings.calls_per_connection),
        server_(context_) {}

  // SocketTransport.
  absl::Status Open() override { return context_.poller.Open(); }
  absl::Status Accept(base::FileDescriptor listener,
                      Acceptor::OnAccepted on_accepted) override;
  void Serve(base::FileDescriptor socket) override;
  void SetPeers(std::vector<StreamPeer> peers) override;
  void BeginShutdown() override;
  void WaitUntilDrained() override { drained_.WaitForNotification(); }

  // Transport.
  bool Start(ClientCall* call) override;
  void Reply(ServerCall* call) override { server_.Reply(call); }
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { context_.poller.Wake(); }
  bool Cancel(ClientCall& call) override {
    client_.Cancel(call);
    return true;
  }
  void CancelCalls() override { client_.CancelAll(); }
  int64_t BreakConnections() override { return server_.BreakConnections(); }

 private:
  // Work that other threads have left for the worker.
  struct Inbox {
    std::vector<base::FileDescriptor> sockets;
    std::optional<std::vector<StreamPeer>> peers;
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

  typename Client::Context context_;
  Client client_;
  Server server_;
  std::optional<Acceptor> acceptor_;  // for one transport per driver

  std::atomic<bool> has_mail_ = false;
  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);

  LateDeadlines late_deadlines_;
  bool nothing_left_ = true;  // the last Poll() found nothing to read

  bool shutting_down_ = false;
  absl::Notification drained_;
};

template <typename Client, typename Server>
absl::Status SocketTransportOf<Client, Server>::Accept(
    base::FileDescriptor listener, Acceptor::OnAccepted on_accepted) {
  acceptor_.emplace(std::move(listener), std::move(on_accepted),
                    context_.poller, context_.counters);
  return acceptor_->Open();
}

template <typename Client, typename Server>
template <typename Change>
void SocketTransportOf<Client, Server>::Post(const Change& change) {
  {
    const absl::MutexLock lock(&mutex_);
    change(inbox_);
    has_mail_.store(true, std::memory_order_release);
  }
  Wake();
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::Serve(base::FileDescriptor socket) {
  Post([&](Inbox& inbox) { inbox.sockets.push_back(std::move(socket)); });
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::SetPeers(
    std::vector<StreamPeer> peers) {
  Post([&](Inbox& inbox) { inbox.peers = std::move(peers); });
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::BeginShutdown() {
  Post([](Inbox& inbox) { inbox.shutdown = true; });
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::TakeInbox() {
  Inbox inbox;
  {
    const absl::MutexLock lock(&mutex_);
    std::swap(inbox, inbox_);
    has_mail_.store(false, std::memory_order_relaxed);
  }
  if (inbox.peers.has_value()) client_.SetPeers(*std::move(inbox.peers));
  for (base::FileDescriptor& socket : inbox.sockets) {
    server_.Serve(std::move(socket));
  }
  if (inbox.shutdown) Shutdown();
}

template <typename Client, typename Server>
bool SocketTransportOf<Client, Server>::Start(ClientCall* call) {
  // Peers may have been connected since the last Poll().
  if (client_.peer_count() == 0) TakeInbox();
  return client_.Start(call);
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::Poll(int64_t deadline_ns,
                                             TransportEvents& events) {
  if (has_mail_.load(std::memory_order_acquire)) TakeInbox();
  FlushAll();
  server_.DestroyClosed();
  client_.DestroyIdle();
  if (next_due_ns() != INT64_MAX) Work();
  const bool any_ended = client_.DeliverEnded(events);
  if (any_ended || !context_.to_flush.empty()) deadline_ns = 0;
  if (shutting_down_) NoticeDrained();
  nothing_left_ =
      !context_.poller.Poll(std::min(deadline_ns, next_due_ns()), events);
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::FlushAll() {
  std::vector<StreamConnection*>& dirty = context_.to_flush;
  TurnWork& work = context_.poller.work();
  work.StartTurn();
  size_t flushed = 0;
  // Flushing may add to the list.
  while (flushed < dirty.size() && !work.is_enough()) dirty[flushed++]->Flush();
  dirty.erase(dirty.begin(), dirty.begin() + static_cast<ptrdiff_t>(flushed));
}

template <typename Client, typename Server>
int64_t SocketTransportOf<Client, Server>::next_due_ns() const {
  const int64_t due_ns = std::min(client_.next_due_ns(), server_.next_due_ns());
  return acceptor_.has_value() ? std::min(due_ns, acceptor_->next_due_ns())
                               : due_ns;
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::Work() {
  const int64_t now_ns = base::RealClock().MonotonicNs();
  const int64_t due_ns = next_due_ns();
  if (now_ns < due_ns ||
      !late_deadlines_.MayJudge(due_ns, now_ns, nothing_left_)) {
    return;
  }
  client_.Work(now_ns);
  server_.Work(now_ns);
  if (acceptor_.has_value()) acceptor_->Work(now_ns);
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::Shutdown() {
  if (std::exchange(shutting_down_, true)) return;
  if (acceptor_.has_value()) acceptor_->Close();
  client_.Close();
  server_.Close();
}

template <typename Client, typename Server>
void SocketTransportOf<Client, Server>::NoticeDrained() {
  if (client_.in_flight() == 0 && !drained_.HasBeenNotified()) {
    drained_.Notify();
  }
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_TRANSPORT_H_
