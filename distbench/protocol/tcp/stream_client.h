// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench::protocol {

// The connections to one peer, which may consist of several servers.
struct StreamPeer {
  // The connections of each server, in the order of the peer's addresses.
  std::vector<std::vector<DialTarget>> servers;

  // Whether servers take calls in turn; otherwise the first reachable one takes
  // all calls.
  bool round_robin = true;
};

// Sends calls over connections that redial (dialled_connection.h says what is
// needed of them). Used by its worker's thread.
//
// A connection may be limited to a number of calls. It is then retired: another
// one, which its first call makes, takes its place, and it closes once its last
// call has ended. So is a connection that the server will end.
template <typename Connection>
class StreamClient final : private Connection::Listener {
 public:
  using Context = typename Connection::Context;

  // After calls_per_connection calls a connection is retired; 0: never.
  explicit StreamClient(Context& context, int64_t calls_per_connection = 0)
      : context_(context), calls_per_connection_(calls_per_connection) {}

  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  // Takes over established connections, in place of earlier ones. If their
  // calls are limited, these have served their purpose, which is to find and to
  // verify the servers: all calls pay for the connections that they use.
  void SetPeers(std::vector<StreamPeer> peers);
  size_t peer_count() const { return peers_.size(); }

  // Calls function(connection) for each connection.
  template <typename Function>
  void ForEachConnection(const Function& function) {
    ForEachPlace([&](Place& place) { function(*place.connection); });
    for (const auto& connection : retired_) function(*connection);
  }

  // As Transport::Start().
  bool Start(ClientCall* call);

  // As Transport::Cancel().
  void Cancel(ClientCall& call) { calls_.Cancel(call); }

  // Ends all calls in flight as cancelled.
  void CancelAll() {
    ForEachConnection([](Connection& connection) { connection.StampCalls(); });
    calls_.CancelAll();
  }

  // As CancelAll(), also for calls that are started later.
  void Close();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const {
    return std::min(calls_.next_due_ns(), agenda_.next_due_ns());
  }

  // Ends calls whose deadline has passed, and reconnects. `now_ns` is the
  // monotonic time.
  void Work(int64_t now_ns);

  // Tells the engine about calls that ended without a reply. Returns whether
  // there were any.
  bool DeliverEnded(TransportEvents& events) {
    return calls_.DeliverEnded(base::RealClock(),
                               [&](ClientCall* call) { events.OnDone(call); });
  }

  // Closes retired connections that are not in use any more. Must not be called
  // while the poller runs or while connections are flushed.
  void DestroyIdle() {
    if (calls_.has_idle()) DestroyIdleNow();
  }

  size_t in_flight() const { return calls_.in_flight(); }

 private:
  // One connection at a time to a server, and the calls that it was given.
  struct Place {
    std::string name;
    SocketAddress address;
    std::unique_ptr<Connection> connection;
    int64_t calls = 0;
  };
  // The places of one server, used in turn.
  struct Server {
    std::vector<Place> places;
    size_t next = 0;
  };
  struct Peer {
    std::vector<Server> servers;
    // The place, if there is one only.
    Place* only = nullptr;
    bool round_robin = true;
    size_t next = 0;
  };

  Place MakePlace(DialTarget target);
  std::unique_ptr<Connection> MakeConnection(DialTarget target);
  // Whether a call need not look for another connection: with limited calls,
  // who is reachable shows only when the call connects.
  bool IsUsable(const Place& place) const {
    return calls_per_connection_ > 0 || place.connection->is_up();
  }
  Server& ChooseServer(Peer& peer) {
    return peer.servers.size() == 1 ? peer.servers.front() : NextServer(peer);
  }
  Server& NextServer(Peer& peer);
  Place& ChoosePlace(Peer& peer) {
    if (peer.only != nullptr) [[likely]] {
      return *peer.only;
    }
    return NextPlace(ChooseServer(peer));
  }
  Place& NextPlace(Server& server);

  template <typename Function>
  void ForEachPlace(const Function& function) {
    for (Peer& peer : peers_) {
      for (Server& server : peer.servers) {
        for (Place& place : server.places) function(place);
      }
    }
  }

  void Retire(Place& place);
  void DestroyIdleNow();
  void Refuse(ClientCall* call);

  // Connection::Listener.
  void OnDown(Connection& connection, const std::string& error) override {
    calls_.Lose(connection, error);
  }
  void OnFailed(ClientCall& call, std::string error) override {
    calls_.EndWith(&call, std::move(error));
  }
  void OnRetired(Connection& connection) override;
  void OnRefused(ClientCall& call) override;
  void OnDueChanged(Connection& connection) override {
    agenda_.Set(connection, connection.next_due_ns());
  }

  Context& context_;
  const int64_t calls_per_connection_;
  ClientCalls<Connection> calls_;
  std::vector<Peer> peers_;
  Agenda<Connection> agenda_;
  absl::flat_hash_set<std::unique_ptr<Connection>> retired_;
  bool closed_ = false;
};

template <typename Connection>
void StreamClient<Connection>::SetPeers(std::vector<StreamPeer> peers) {
  ForEachPlace([&](Place& place) { agenda_.Remove(*place.connection); });
  peers_.clear();
  for (StreamPeer& peer : peers) {
    Peer& made = peers_.emplace_back();
    made.round_robin = peer.round_robin;
    for (std::vector<DialTarget>& targets : peer.servers) {
      Server& server = made.servers.emplace_back();
      for (DialTarget& target : targets) {
        server.places.push_back(MakePlace(std::move(target)));
      }
    }
    if (made.servers.size() == 1 && made.servers.front().places.size() == 1) {
      made.only = &made.servers.front().places.front();
    }
  }
}

template <typename Connection>
typename StreamClient<Connection>::Place StreamClient<Connection>::MakePlace(
    DialTarget target) {
  if (calls_per_connection_ > 0) {
    target.stream.Close();
    target.session = nullptr;
  }
  Place place = {
      .name = target.name, .address = target.address, .connection = nullptr};
  place.connection = MakeConnection(std::move(target));
  return place;
}

template <typename Connection>
std::unique_ptr<Connection> StreamClient<Connection>::MakeConnection(
    DialTarget target) {
  typename Connection::Listener& listener = *this;
  return std::make_unique<Connection>(context_, std::move(target), calls_,
                                      listener);
}

template <typename Connection>
typename StreamClient<Connection>::Server& StreamClient<Connection>::NextServer(
    Peer& peer) {
  if (!peer.round_robin) peer.next = 0;
  return TakeTurn(
      peer.servers, peer.next,
      [this](const Server& server) {
        return absl::c_any_of(server.places, [this](const Place& place) {
          return IsUsable(place);
        });
      },
      [](Server& server) { server.places.front().connection->RequestDial(); });
}

template <typename Connection>
typename StreamClient<Connection>::Place& StreamClient<Connection>::NextPlace(
    Server& server) {
  return TakeTurn(
      server.places, server.next,
      [this](const Place& place) { return IsUsable(place); },
      [](Place& place) { place.connection->RequestDial(); });
}

template <typename Connection>
bool StreamClient<Connection>::Start(ClientCall* call) {
  if (closed_ || call->trace_context.size() > Connection::kMaxTraceBytes)
      [[unlikely]] {
    Refuse(call);
    return true;
  }
  Place& place = ChoosePlace(peers_[call->peer]);
  Connection& connection = *place.connection;
  if (connection.is_full()) return false;
  call->sent_ns = 0;  // what is sent for the first time gets one
  connection.Send(*call, calls_.Start(call, &connection), HeaderOf(*call));
  if (++place.calls == calls_per_connection_) [[unlikely]] {
    Retire(place);
  }
  return true;
}

// The connection itself may be in the middle of something.
template <typename Connection>
void StreamClient<Connection>::Retire(Place& place) {
  ++context_.counters.renewed_connections;
  calls_.Retire(*place.connection);
  retired_.insert(std::move(place.connection));
  place.connection = MakeConnection(
      {.name = place.name, .addresses = {}, .address = place.address});
  place.calls = 0;
}

template <typename Connection>
void StreamClient<Connection>::OnRetired(Connection& connection) {
  for (Peer& peer : peers_) {
    for (Server& server : peer.servers) {
      for (Place& place : server.places) {
        if (place.connection.get() == &connection) return Retire(place);
      }
    }
  }
}

template <typename Connection>
void StreamClient<Connection>::OnRefused(ClientCall& call) {
  Connection& other = *ChoosePlace(peers_[call.peer]).connection;
  calls_.Move(*calls_.EntryOf(call), &other);
  call.transport_state = nullptr;
  other.Send(call, call.transport_id, HeaderOf(call));
}

template <typename Connection>
void StreamClient<Connection>::DestroyIdleNow() {
  for (Connection* idle : calls_.TakeIdle()) {
    agenda_.Remove(*idle);
    retired_.erase(idle);
  }
}

// Ends a call that cannot be sent.
template <typename Connection>
void StreamClient<Connection>::Refuse(ClientCall* call) {
  call->sent_ns = base::RealClock().MonotonicNs();
  call->sent_bytes = 0;
  calls_.EndWith(call, closed_
                           ? std::string(kCancelled)
                           : absl::StrCat("INVALID_ARGUMENT: a trace of ",
                                          call->trace_context.size(),
                                          " bytes; this driver carries up to ",
                                          Connection::kMaxTraceBytes));
}

template <typename Connection>
void StreamClient<Connection>::Close() {
  closed_ = true;
  CancelAll();
}

template <typename Connection>
void StreamClient<Connection>::Work(int64_t now_ns) {
  calls_.Expire(now_ns);
  agenda_.Work(now_ns);
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_CLIENT_H_
