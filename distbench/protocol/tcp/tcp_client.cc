#include "distbench/protocol/tcp/tcp_client.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench {
namespace {

constexpr char kCancelled[] = "CANCELLED: the caller gave up";

// A request's other fields take less than the rest of kMaxHeadBytes.
constexpr size_t kMaxTraceBytes = kMaxHeadBytes - 256;

// Returns the first usable one of `items`, beginning with the one whose turn it
// is; if none is usable, returns that one. Calls `pass_over` for each item that
// it skips.
template <typename Items, typename IsUsable, typename PassOver>
auto& TakeTurn(Items& items, size_t& next, const IsUsable& is_usable,
               const PassOver& pass_over) {
  const size_t count = items.size();
  const size_t first = next;
  next = first + 1 < count ? first + 1 : 0;
  for (size_t i = first; i < first + count; ++i) {
    auto& item = items[i < count ? i : i - count];
    if (is_usable(item)) return item;
    pass_over(item);
  }
  return items[first];
}

}  // namespace

bool TcpClient::Server::is_reachable() const {
  return absl::c_any_of(connections, [](const auto& c) { return c->is_up(); });
}

void TcpClient::SetPeers(std::vector<TcpPeer> peers) {
  ClientConnection::Listener& listener = *this;
  peers_.clear();
  for (TcpPeer& peer : peers) {
    Peer& made = peers_.emplace_back();
    made.round_robin = peer.round_robin;
    for (std::vector<DialTarget>& targets : peer.servers) {
      Server& server = made.servers.emplace_back();
      for (DialTarget& target : targets) {
        server.connections.push_back(std::make_unique<ClientConnection>(
            context_, std::move(target), calls_, listener));
      }
    }
    if (made.servers.size() == 1 &&
        made.servers.front().connections.size() == 1) {
      made.only = made.servers.front().connections.front().get();
    }
  }
}

TcpClient::Server& TcpClient::NextServer(Peer& peer) {
  if (!peer.round_robin) peer.next = 0;
  return TakeTurn(
      peer.servers, peer.next,
      [](const Server& server) { return server.is_reachable(); },
      [](Server& server) { server.connections.front()->RequestDial(); });
}

ClientConnection& TcpClient::NextConnection(Server& server) {
  return *TakeTurn(
      server.connections, server.next,
      [](const auto& connection) { return connection->is_up(); },
      [](auto& connection) { connection->RequestDial(); });
}

bool TcpClient::Start(ClientCall* call) {
  if (closed_ || call->trace_context.size() > kMaxTraceBytes) [[unlikely]] {
    Refuse(call);
    return true;
  }
  ClientConnection& connection = ChooseConnection(peers_[call->peer]);
  if (connection.is_full()) return false;
  const uint64_t id = calls_.Add(call, &connection);
  if (call->deadline_ns != 0) {
    deadlines_.Add(call->deadline_ns, id, [this](uint64_t other) {
      Calls::Entry* entry;
      return calls_.Find(other, entry) == Calls::Match::kFound;
    });
  }
  connection.Send(*call, id, HeaderOf(*call));
  return true;
}

// Ends a call that cannot be sent.
void TcpClient::Refuse(ClientCall* call) {
  call->sent_ns = RealClock().MonotonicNs();
  call->sent_bytes = 0;
  EndWith(call, closed_ ? kCancelled
                        : absl::StrCat("INVALID_ARGUMENT: a trace of ",
                                       call->trace_context.size(),
                                       " bytes; the tcp driver carries up to ",
                                       kMaxTraceBytes));
}

void TcpClient::EndWith(ClientCall* call, std::string error) {
  ended_.push_back({.call = call, .error = std::move(error)});
}

void TcpClient::CancelAll() {
  for (Peer& peer : peers_) {
    for (Server& server : peer.servers) {
      for (auto& connection : server.connections) connection->StampCalls();
    }
  }
  calls_.RemoveIf([this](const Calls::Entry& entry) {
    EndWith(entry.call, kCancelled);
    return true;
  });
}

void TcpClient::Close() {
  closed_ = true;
  CancelAll();
}

int64_t TcpClient::next_due_ns() const {
  int64_t due_ns = deadlines_.next_due_ns();
  for (const ClientConnection* connection : dialing_) {
    due_ns = std::min(due_ns, connection->next_due_ns());
  }
  return due_ns;
}

void TcpClient::Work(int64_t now_ns) {
  while (deadlines_.next_due_ns() <= now_ns) {
    Calls::Entry* entry;
    if (calls_.Find(deadlines_.Pop(), entry) != Calls::Match::kFound) continue;
    EndWith(entry->call, "DEADLINE_EXCEEDED: no answer in time");
    calls_.Remove(*entry);
  }
  if (dialing_.empty()) return;
  for (ClientConnection* connection : dialing_) connection->Work(now_ns);
  dialing_.erase(std::remove_if(dialing_.begin(), dialing_.end(),
                                [](const ClientConnection* connection) {
                                  return !connection->is_dialing();
                                }),
                 dialing_.end());
}

void TcpClient::OnDown(ClientConnection& connection, const std::string& error) {
  calls_.RemoveIf([&](const Calls::Entry& entry) {
    if (entry.owner != &connection) return false;
    EndWith(entry.call, error);
    return true;
  });
}

void TcpClient::OnDialNeeded(ClientConnection& connection) {
  if (!absl::c_linear_search(dialing_, &connection)) {
    dialing_.push_back(&connection);
  }
}

bool TcpClient::DeliverEnded(TransportEvents& events) {
  if (ended_.empty()) return false;
  // The engine may start calls that end at once; those wait for the next turn.
  std::vector<Ended> ended;
  ended.swap(ended_);
  const int64_t now_ns = RealClock().MonotonicNs();
  for (const auto& [call, error] : ended) {
    call->done_ns = now_ns;
    call->received_bytes = 0;
    call->responding_instance = kNoInstance;
    call->error = error;
    events.OnDone(call);
  }
  return true;
}

}  // namespace distbench
