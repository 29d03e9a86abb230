// The client side of one worker of the tcp driver.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_CLIENT_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/call_table.h"
#include "distbench/protocol/tcp/client_connection.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/deadline_queue.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench {

// The connections to one peer, which may be several servers.
struct TcpPeer {
  // By server, in the order in which the peer's addresses were given.
  std::vector<std::vector<DialTarget>> servers;

  // Whether calls go to the servers in turn; else to the first that can be
  // reached.
  bool round_robin = true;
};

// Used by its worker's thread.
class TcpClient final : private ClientConnection::Listener {
 public:
  explicit TcpClient(ConnectionContext& context) : context_(context) {}

  TcpClient(const TcpClient&) = delete;
  TcpClient& operator=(const TcpClient&) = delete;

  // Takes over connections that have been made. Instead of those before.
  void SetPeers(std::vector<TcpPeer> peers);
  size_t peer_count() const { return peers_.size(); }

  // As Transport::Start().
  bool Start(ClientCall* call);

  // Ends all calls in flight, as cancelled.
  void CancelAll();

  // Likewise, and calls that are started later, too.
  void Close();

  // When Work() has something to do: a monotonic time, or INT64_MAX.
  int64_t next_due_ns() const;

  // Ends calls whose deadline has passed, and connects anew. now_ns: the
  // monotonic time.
  void Work(int64_t now_ns);

  // Tells the engine of calls that ended without a reply. Returns whether there
  // were any.
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

  // ClientConnection::Listener
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
