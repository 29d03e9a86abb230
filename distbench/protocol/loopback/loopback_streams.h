// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_mailbox.h"
#include "distbench/protocol/streams.h"

namespace distbench::protocol {

// A streaming RPC, which both ends share. Each end touches only its own fields.
struct LoopbackStream final : ServerCall,
                              CallOwner,
                              std::enable_shared_from_this<LoopbackStream> {
  // As ClientCalls needs it: tells the server.
  void Abandon(ClientCall& call);

  // Set before the server sees it.
  std::shared_ptr<LoopbackMailbox> client;
  std::shared_ptr<LoopbackMailbox> server;
  std::string trace_bytes;  // the memory of trace_context

  // The client's.
  uint64_t id = 0;                       // in the table of calls in flight
  std::shared_ptr<LoopbackStream> self;  // while the call is in flight

  // The server's.
  enum class State { kNew, kServed, kBroken, kFinished };
  State state = State::kNew;
  size_t serving_position = 0;
};

// The streams of one worker, at both ends. Messages pass by pointer through the
// mailbox of the other end's worker. A message is taken when that worker
// delivers it, so that one message at a time is on its way in each direction of
// a stream.
class LoopbackStreams final : public StreamTransport {
 public:
  // `mailbox` is that of the worker. All arguments must outlive this.
  LoopbackStreams(LoopbackMailbox& mailbox, std::vector<LoopbackPeer>& peers,
                  const base::Clock& clock)
      : mailbox_(mailbox), peers_(peers), clock_(clock) {}

  LoopbackStreams(const LoopbackStreams&) = delete;
  LoopbackStreams& operator=(const LoopbackStreams&) = delete;

  void Open(ClientCall* call) override;
  int64_t Write(ClientCall& call, int64_t bytes, bool last) override;
  void CancelStream(ClientCall& call) override { calls_.Cancel(call); }
  int64_t Write(ServerCall& call, int64_t bytes) override;
  void Finish(ServerCall* call, int64_t last_message_bytes,
              int64_t blocked_ns) override;

  // What passes between the two ends of a stream.
  struct Message;

  // These are for the transport. `events` may be null in the first two.

  // Delivers a message of the kinds kStreamRequest and kStreamOther.
  void Deliver(LoopbackMail& mail, StreamEvents* events);

  // Delivers what has ended on this side. Returns whether there was anything.
  bool DeliverEnded(StreamEvents* events);

  // The earliest deadline, even of an RPC that has ended, or INT64_MAX.
  int64_t next_due_ns() const { return calls_.next_due_ns(); }
  // Gives up the RPCs whose deadlines have passed.
  void Expire(int64_t now_ns) { calls_.Expire(now_ns); }

  void CancelAll() { calls_.CancelAll(); }

  // Breaks the RPCs that the engine has as a server, at the next
  // DeliverEnded().
  void Break() { breaks_ = true; }

  // Lets go of everything. The mailbox is detached.
  void Detach();

 private:
  using Calls = ClientCalls<LoopbackStream>;

  void DeliverToServer(Message& message, StreamEvents* events);
  void DeliverToClient(Message& message, StreamEvents* events);
  void BreakServed(StreamEvents& events);

  LoopbackMailbox& mailbox_;
  std::vector<LoopbackPeer>& peers_;
  const base::Clock& clock_;
  Calls calls_;
  std::vector<std::shared_ptr<LoopbackStream>> serving_;  // of the engine
  bool breaks_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_STREAMS_H_
