#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/queues.h"
#include "distbench/base/wakeup.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_streams.h"

namespace distbench::protocol {

class LoopbackTransport;

// A call on its way between two transports. It belongs to the client's
// transport, which touches only the client's fields until the reply is back.
struct LoopbackCall {
  // Fields of the server's side.
  ServerCall server;
  std::string trace_context;
  std::string error;
  // Only if time parts are measured.
  int64_t arrived_ns = 0;
  int64_t queue_ns = kNotReported;
  int64_t handler_ns = kNotReported;
  bool is_reply = false;
  size_t serving_position = 0;  // in serving_, or kNotServed
  LoopbackCall* next = nullptr;

  // Fields of the client's side. `client` is null once the call was cancelled;
  // the reply is then dropped.
  std::shared_ptr<LoopbackTransport> origin;  // set while the call is out
  ClientCall* client = nullptr;
  int64_t generation = 0;  // number of uses of this object
  size_t position = 0;     // in active_
  int peer = 0;            // the peer that has the call

  // If this is no call but the server's notice that it has broken one: that
  // call, which still comes back when the engine replies.
  LoopbackCall* broken = nullptr;
};

// Calls at a peer keep their transport alive, so the two ends may be destroyed
// in any order.
class LoopbackTransport final
    : public Transport,
      public std::enable_shared_from_this<LoopbackTransport> {
 public:
  LoopbackTransport(const base::Clock& clock, bool measures_time_parts)
      : clock_(clock),
        measures_time_parts_(measures_time_parts),
        streams_(*this, clock) {}

  // Adds a peer before the first Start(). `servers` has at least one transport.
  // With round_robin they take calls in turn, otherwise the first takes all.
  // Closed ones are skipped while others are open.
  void AddPeer(std::vector<std::shared_ptr<LoopbackTransport>> servers,
               bool round_robin) {
    for (const auto& server : servers) ++server->connection_count_;
    peers_.push_back(
        {.servers = std::move(servers), .round_robin = round_robin});
  }

  // Requests are refused from now on. Any thread may call it.
  void Close();

  // Lets go of all peers and refuses undelivered requests. Requires that
  // Close() was called and that Poll() is not called again.
  void Detach();

  bool Start(ClientCall* call) override;
  void Reply(ServerCall* call) override;
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { wakeup_.Wake(); }
  bool Cancel(ClientCall& call) override;
  void CancelCalls() override;
  int64_t BreakConnections() override;
  StreamTransport* streams() override { return &streams_; }

  // Replies that came after their calls had ended, and connections broken by
  // BreakConnections(). Any thread may call these.
  int64_t late_replies() const { return late_replies_; }
  int64_t broken_connections() const { return broken_connections_; }

  // These are for the streams. Any thread may call the first two.
  LoopbackStreams& loopback_streams() { return streams_; }
  void WakeIfAsleep() {
    if (asleep_) wakeup_.Wake();
  }
  std::shared_ptr<LoopbackTransport> ServerOf(const ClientCall& call) {
    return Choose(peers_[call.peer]).shared_from_this();
  }

 private:
  struct Target {
    std::vector<std::shared_ptr<LoopbackTransport>> servers;
    bool round_robin = false;
    size_t next = 0;  // with round robin: the next server
    int out = 0;      // calls that are not back, including cancelled ones
  };
  // A call that ends with an error from this transport.
  struct Cancelled {
    ClientCall* client;
    const char* error;
  };
  struct Deadline {
    int64_t due_ns;
    int64_t generation;
    LoopbackCall* call;
    bool operator>(const Deadline& other) const {
      return due_ns > other.due_ns;
    }
  };

  // With this many unanswered calls a peer's send queue counts as full. Calls
  // count until they are back, because a client that gives up its calls faster
  // than the server takes them would otherwise fill the memory.
  static constexpr int kMaxCallsPerPeer = 1 << 17;

  static LoopbackTransport& Choose(Target& target);
  bool DeliverSome(TransportEvents& events);
  bool DeliverCancelled(TransportEvents& events);
  void DeliverRequest(LoopbackCall* call, TransportEvents& events);
  bool DeliverReply(LoopbackCall* call, TransportEvents& events);
  void Sleep(int64_t deadline_ns);
  void Abandon(LoopbackCall* call, const char* error);
  void TakeNotice(LoopbackCall* notice);
  static void Notify(LoopbackCall* broken);
  void ExpireDeadlines();
  void Accept(LoopbackCall* call);
  void RefuseAll();
  void DropAll(LoopbackCall* calls);
  static void Refuse(LoopbackCall* call, const char* error);
  static void SendBack(LoopbackCall* call);

  const base::Clock& clock_;
  const bool measures_time_parts_;
  LoopbackStreams streams_;
  std::vector<Target> peers_;
  base::ObjectPool<LoopbackCall> calls_;
  std::vector<LoopbackCall*> active_;   // those with a client
  std::vector<LoopbackCall*> serving_;  // those that the engine has
  std::vector<Cancelled> cancelled_;
  std::vector<Cancelled> delivering_;  // keeps its memory
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<Deadline>>
      deadlines_;
  LateDeadlines late_deadlines_;
  bool is_broken_ = false;           // since the last Poll()
  LoopbackCall* arrived_ = nullptr;  // taken from inbox_, not delivered yet

  base::MpscQueue<LoopbackCall> inbox_;
  base::Wakeup wakeup_;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> detached_ = false;
  std::atomic<int64_t> connection_count_ = 0;  // of clients to this server
  std::atomic<int64_t> late_replies_ = 0;
  std::atomic<int64_t> broken_connections_ = 0;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_
