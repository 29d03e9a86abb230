// The client side of one worker of a driver over TCP connections.

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_CLIENT_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_CLIENT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench {

// The connections to one peer, which may consist of several servers.
struct StreamPeer {
  // The connections of each server, in the order of the peer's addresses.
  std::vector<std::vector<DialTarget>> servers;

  // Whether servers take calls in turn; otherwise the first reachable one takes
  // all calls.
  bool round_robin = true;
};

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

// Sends calls over connections that redial, such as ClientConnection
// (client_connection.h), which says what is needed of them. Used by its
// worker's thread.
template <typename Connection>
class StreamClient final : private Connection::Listener {
 public:
  using Context = typename Connection::Context;

  explicit StreamClient(Context& context) : context_(context) {}

  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  // Takes over established connections, in place of earlier ones.
  void SetPeers(std::vector<StreamPeer> peers);
  size_t peer_count() const { return peers_.size(); }

  // Calls function(connection) for each connection.
  template <typename Function>
  void ForEachConnection(const Function& function) {
    for (Peer& peer : peers_) {
      for (Server& server : peer.servers) {
        for (auto& connection : server.connections) function(*connection);
      }
    }
  }

  // As Transport::Start().
  bool Start(ClientCall* call);

  // Ends all calls in flight as cancelled.
  void CancelAll();

  // As CancelAll(), also for calls that are started later.
  void Close();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const;

  // Ends calls whose deadline has passed, and reconnects. `now_ns` is the
  // monotonic time.
  void Work(int64_t now_ns);

  // Tells the engine about calls that ended without a reply. Returns whether
  // there were any.
  bool DeliverEnded(TransportEvents& events);

  size_t in_flight() const { return calls_.size() + ended_.size(); }

 private:
  using Calls = typename Connection::Calls;

  // The connections to one server, used in turn.
  struct Server {
    std::vector<std::unique_ptr<Connection>> connections;
    size_t next = 0;

    bool is_reachable() const;
  };
  struct Peer {
    std::vector<Server> servers;
    // The connection, if there is one only.
    Connection* only = nullptr;
    bool round_robin = true;
    size_t next = 0;
  };
  // A call that ended without a reply.
  struct Ended {
    ClientCall* call;
    std::string error;
  };

  static Server& ChooseServer(Peer& peer) {
    return peer.servers.size() == 1 ? peer.servers.front() : NextServer(peer);
  }
  static Server& NextServer(Peer& peer);
  static Connection& ChooseConnection(Peer& peer) {
    if (peer.only != nullptr) [[likely]] {
      return *peer.only;
    }
    return NextConnection(ChooseServer(peer));
  }
  static Connection& NextConnection(Server& server);
  void Refuse(ClientCall* call);
  void EndWith(ClientCall* call, std::string error);

  static constexpr char kCancelled[] = "CANCELLED: the caller gave up";

  // Connection::Listener.
  void OnDown(Connection& connection, const std::string& error) override;
  void OnFailed(ClientCall& call, std::string error) override {
    EndWith(&call, std::move(error));
  }
  void OnDialNeeded(Connection& connection) override;

  Context& context_;
  Calls calls_;
  std::vector<Peer> peers_;
  DeadlineQueue deadlines_;
  std::vector<Ended> ended_;
  std::vector<Connection*> dialing_;  // and those that wait to dial
  bool closed_ = false;
};

template <typename Connection>
bool StreamClient<Connection>::Server::is_reachable() const {
  return absl::c_any_of(connections, [](const auto& c) { return c->is_up(); });
}

template <typename Connection>
void StreamClient<Connection>::SetPeers(std::vector<StreamPeer> peers) {
  typename Connection::Listener& listener = *this;
  peers_.clear();
  for (StreamPeer& peer : peers) {
    Peer& made = peers_.emplace_back();
    made.round_robin = peer.round_robin;
    for (std::vector<DialTarget>& targets : peer.servers) {
      Server& server = made.servers.emplace_back();
      for (DialTarget& target : targets) {
        server.connections.push_back(std::make_unique<Connection>(
            context_, std::move(target), calls_, listener));
      }
    }
    if (made.servers.size() == 1 &&
        made.servers.front().connections.size() == 1) {
      made.only = made.servers.front().connections.front().get();
    }
  }
}

template <typename Connection>
typename StreamClient<Connection>::Server& StreamClient<Connection>::NextServer(
    Peer& peer) {
  if (!peer.round_robin) peer.next = 0;
  return TakeTurn(
      peer.servers, peer.next,
      [](const Server& server) { return server.is_reachable(); },
      [](Server& server) { server.connections.front()->RequestDial(); });
}

template <typename Connection>
Connection& StreamClient<Connection>::NextConnection(Server& server) {
  return *TakeTurn(
      server.connections, server.next,
      [](const auto& connection) { return connection->is_up(); },
      [](auto& connection) { connection->RequestDial(); });
}

template <typename Connection>
bool StreamClient<Connection>::Start(ClientCall* call) {
  if (closed_ || call->trace_context.size() > Connection::kMaxTraceBytes)
      [[unlikely]] {
    Refuse(call);
    return true;
  }
  Connection& connection = ChooseConnection(peers_[call->peer]);
  if (connection.is_full()) return false;
  const uint64_t id = calls_.Add(call, &connection);
  if (call->deadline_ns != 0) {
    deadlines_.Add(call->deadline_ns, id, [this](uint64_t other) {
      typename Calls::Entry* entry;
      return calls_.Find(other, entry) == Calls::Match::kFound;
    });
  }
  connection.Send(*call, id, HeaderOf(*call));
  return true;
}

// Ends a call that cannot be sent.
template <typename Connection>
void StreamClient<Connection>::Refuse(ClientCall* call) {
  call->sent_ns = RealClock().MonotonicNs();
  call->sent_bytes = 0;
  EndWith(call, closed_ ? kCancelled
                        : absl::StrCat("INVALID_ARGUMENT: a trace of ",
                                       call->trace_context.size(),
                                       " bytes; this driver carries up to ",
                                       Connection::kMaxTraceBytes));
}

template <typename Connection>
void StreamClient<Connection>::EndWith(ClientCall* call, std::string error) {
  call->transport_state = nullptr;
  ended_.push_back({.call = call, .error = std::move(error)});
}

template <typename Connection>
void StreamClient<Connection>::CancelAll() {
  ForEachConnection([](Connection& connection) { connection.StampCalls(); });
  calls_.RemoveIf([this](const typename Calls::Entry& entry) {
    entry.owner->Abandon(*entry.call);
    EndWith(entry.call, kCancelled);
    return true;
  });
}

template <typename Connection>
void StreamClient<Connection>::Close() {
  closed_ = true;
  CancelAll();
}

template <typename Connection>
int64_t StreamClient<Connection>::next_due_ns() const {
  int64_t due_ns = deadlines_.next_due_ns();
  for (const Connection* connection : dialing_) {
    due_ns = std::min(due_ns, connection->next_due_ns());
  }
  return due_ns;
}

template <typename Connection>
void StreamClient<Connection>::Work(int64_t now_ns) {
  while (deadlines_.next_due_ns() <= now_ns) {
    typename Calls::Entry* entry;
    if (calls_.Find(deadlines_.Pop(), entry) != Calls::Match::kFound) continue;
    entry->owner->Abandon(*entry->call);
    EndWith(entry->call, "DEADLINE_EXCEEDED: no answer in time");
    calls_.Remove(*entry);
  }
  if (dialing_.empty()) return;
  for (Connection* connection : dialing_) connection->Work(now_ns);
  dialing_.erase(std::remove_if(dialing_.begin(), dialing_.end(),
                                [](const Connection* connection) {
                                  return !connection->is_dialing();
                                }),
                 dialing_.end());
}

template <typename Connection>
void StreamClient<Connection>::OnDown(Connection& connection,
                                      const std::string& error) {
  calls_.RemoveIf([&](const typename Calls::Entry& entry) {
    if (entry.owner != &connection) return false;
    EndWith(entry.call, error);
    return true;
  });
}

template <typename Connection>
void StreamClient<Connection>::OnDialNeeded(Connection& connection) {
  if (!absl::c_linear_search(dialing_, &connection)) {
    dialing_.push_back(&connection);
  }
}

template <typename Connection>
bool StreamClient<Connection>::DeliverEnded(TransportEvents& events) {
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

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_CLIENT_H_
