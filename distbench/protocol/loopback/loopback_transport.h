// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/wakeup.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_mailbox.h"
#include "distbench/protocol/loopback/loopback_streams.h"

namespace distbench::protocol {

// A call on its way between two transports. It belongs to the client's
// transport, which touches only the client's fields until the reply is back.
struct LoopbackCall final : ServerCall, LoopbackMail {
  // LoopbackMail.
  void Return() override;

  // Fails the call on behalf of a server that does not serve it.
  void Refuse(const char* error);

  // Sends the reply.
  void SendBack();

  // Fields of the server's side.
  std::string trace_bytes;  // the memory of trace_context
  std::string error;
  // Only if time parts are measured.
  int64_t arrived_ns = 0;
  int64_t queue_ns = kNotReported;
  int64_t handler_ns = kNotReported;
  size_t serving_position = 0;  // in serving_, or kNotServed

  // Fields of the client's side.
  std::shared_ptr<LoopbackMailbox> origin;  // set while the call is out
  uint64_t id = 0;                          // in the table of calls in flight
  int peer = 0;                             // the peer that has the call
};

// Calls at a peer keep their transport alive.
class LoopbackTransport final : public Transport, public LoopbackMailbox {
 public:
  LoopbackTransport(base::Wakeup wakeup, const base::Clock& clock,
                    bool measures_time_parts)
      : LoopbackMailbox(std::move(wakeup)),
        clock_(clock),
        measures_time_parts_(measures_time_parts),
        streams_(*this, peers_, clock) {}

  // Adds a peer before the first Start().
  void AddPeer(LoopbackPeer peer);

  // Requests are refused from now on. Any thread may call it.
  void Close() { CloseMailbox(); }

  // Lets go of all peers and refuses undelivered requests. Requires that
  // Close() was called and that Poll() is not called again.
  void Detach();

  bool Start(ClientCall* call) override;
  void Reply(ServerCall* call) override;
  void Poll(int64_t deadline_ns, TransportEvents& events) override;
  void Wake() override { WakeWorker(); }
  bool Cancel(ClientCall& call) override {
    calls_.Cancel(call);
    return true;
  }
  void CancelCalls() override {
    calls_.CancelAll();
    streams_.CancelAll();
  }
  int64_t BreakConnections() override;
  StreamTransport* streams() override { return &streams_; }

  // Replies that came after their calls had ended, and connections broken by
  // BreakConnections(). Any thread may call these.
  int64_t late_replies() const { return late_replies_; }
  int64_t broken_connections() const { return broken_connections_; }

 private:
  using Calls = ClientCalls<LoopbackPeer>;

  // With this many unanswered calls a peer's send queue counts as full. Calls
  // count until they are back, because a client that gives up its calls faster
  // than the server takes them would otherwise fill the memory.
  static constexpr int kMaxCallsPerPeer = 1 << 17;

  int64_t next_due_ns() const {
    return std::min(calls_.next_due_ns(), streams_.next_due_ns());
  }
  bool DeliverSome(TransportEvents& events);
  bool DeliverMail(LoopbackMail& mail, TransportEvents& events);
  void DeliverRequest(LoopbackCall& call, TransportEvents& events);
  bool DeliverReply(LoopbackCall& call, TransportEvents& events);
  void ExpireCalls();

  const base::Clock& clock_;
  const bool measures_time_parts_;
  std::vector<LoopbackPeer> peers_;
  LoopbackStreams streams_;
  base::ObjectPool<LoopbackCall> pool_;
  Calls calls_;
  std::vector<LoopbackCall*> serving_;  // those that the engine has
  LateDeadlines late_deadlines_;
  bool is_broken_ = false;           // since the last Poll()
  LoopbackMail* arrived_ = nullptr;  // taken from the inbox, not delivered yet

  std::atomic<int64_t> late_replies_ = 0;
  std::atomic<int64_t> broken_connections_ = 0;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_TRANSPORT_H_
