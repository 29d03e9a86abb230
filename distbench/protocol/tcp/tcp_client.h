// The client side of one worker of the tcp driver.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_CLIENT_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/client_connection.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench {

// The connections to one peer, which may consist of several servers.
struct TcpPeer {
  // The connections of each server, in the order of the peer's addresses.
  std::vector<std::vector<DialTarget>> servers;

  // Whether servers take calls in turn; otherwise the first reachable one takes
  // all calls.
  bool round_robin = true;
};

// Used by its worker's thread.
class TcpClient final : private ClientConnection::Listener {
 public:
  explicit TcpClient(ConnectionContext& context) : context_(context) {}

  TcpClient(const TcpClient&) = delete;
  TcpClient& operator=(const TcpClient&) = delete;

  // Takes over established connections, in place of earlier ones.
  void SetPeers(std::vector<TcpPeer> peers);
  size_t peer_count() const { return peers_.size(); }

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
  using Calls = ClientConnection::Calls;

  // The connections to one server, used in turn.
  struct Server {
    std::vector<std::unique_ptr<ClientConnection>> connections;
    size_t next = 0;

    bool is_reachable() const;
  };
  struct Peer {
    std::vector<Server> servers;
    // The connection, if there is one only.
    ClientConnection* only = nullptr;
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
  static ClientConnection& ChooseConnection(Peer& peer) {
    if (peer.only != nullptr) [[likely]] {
      return *peer.only;
    }
    return NextConnection(ChooseServer(peer));
  }
  static ClientConnection& NextConnection(Server& server);
  void Refuse(ClientCall* call);
  void EndWith(ClientCall* call, std::string error);

  // ClientConnection::Listener.
  void OnDown(ClientConnection& connection, const std::string& error) override;
  void OnDialNeeded(ClientConnection& connection) override;

  ConnectionContext& context_;
  Calls calls_;
  std::vector<Peer> peers_;
  DeadlineQueue deadlines_;
  std::vector<Ended> ended_;
  std::vector<ClientConnection*> dialing_;  // and those that wait to dial
  bool closed_ = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_CLIENT_H_
