#include "distbench/protocol/tcp/tcp_transport.h"

#include <algorithm>
#include <utility>

#include "distbench/base/clock.h"

namespace distbench {

TcpTransport::TcpTransport(const TcpSettings& settings,
                           const ConnectionSecurity& security,
                           StreamCounters& counters)
    : context_(settings, security, counters),
      client_(context_),
      server_(context_) {}

void TcpTransport::Accept(FileDescriptor listener,
                          Acceptor::OnAccepted on_accepted) {
  acceptor_.emplace(std::move(listener), std::move(on_accepted),
                    context_.poller, context_.counters);
}

template <typename Change>
void TcpTransport::Post(const Change& change) {
  {
    const absl::MutexLock lock(&mutex_);
    change(inbox_);
    has_mail_.store(true, std::memory_order_release);
  }
  Wake();
}

void TcpTransport::Serve(FileDescriptor socket) {
  Post([&](Inbox& inbox) { inbox.sockets.push_back(std::move(socket)); });
}

void TcpTransport::SetPeers(std::vector<TcpPeer> peers) {
  Post([&](Inbox& inbox) { inbox.peers = std::move(peers); });
}

void TcpTransport::BeginShutdown() {
  Post([](Inbox& inbox) { inbox.shutdown = true; });
}

void TcpTransport::TakeInbox() {
  Inbox inbox;
  {
    const absl::MutexLock lock(&mutex_);
    std::swap(inbox, inbox_);
    has_mail_.store(false, std::memory_order_relaxed);
  }
  if (inbox.peers.has_value()) client_.SetPeers(*std::move(inbox.peers));
  for (FileDescriptor& socket : inbox.sockets) {
    server_.Serve(std::move(socket));
  }
  if (inbox.shutdown) Shutdown();
}

bool TcpTransport::Start(ClientCall* call) {
  // Peers may have been connected since the last Poll().
  if (client_.peer_count() == 0) TakeInbox();
  return client_.Start(call);
}

void TcpTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  if (has_mail_.load(std::memory_order_acquire)) TakeInbox();
  FlushAll();
  server_.Bury();
  if (next_due_ns() != INT64_MAX) Work();
  if (client_.DeliverEnded(events)) deadline_ns = 0;
  if (shutting_down_) NoticeDrained();
  context_.poller.Poll(std::min(deadline_ns, next_due_ns()), events);
}

void TcpTransport::FlushAll() {
  // Flushing may add to the list.
  for (size_t i = 0; i < context_.to_flush.size(); ++i) {
    context_.to_flush[i]->Flush();
  }
  context_.to_flush.clear();
}

int64_t TcpTransport::next_due_ns() const {
  const int64_t due_ns = std::min(client_.next_due_ns(), server_.next_due_ns());
  return acceptor_.has_value() ? std::min(due_ns, acceptor_->next_due_ns())
                               : due_ns;
}

void TcpTransport::Work() {
  const int64_t now_ns = RealClock().MonotonicNs();
  if (now_ns < next_due_ns()) return;
  client_.Work(now_ns);
  server_.Work(now_ns);
  if (acceptor_.has_value()) acceptor_->Work(now_ns);
}

void TcpTransport::Shutdown() {
  if (std::exchange(shutting_down_, true)) return;
  if (acceptor_.has_value()) acceptor_->Close();
  client_.Close();
  server_.Close();
}

void TcpTransport::NoticeDrained() {
  if (client_.in_flight() == 0 && !drained_.HasBeenNotified()) {
    drained_.Notify();
  }
}

}  // namespace distbench
