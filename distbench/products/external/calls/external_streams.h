// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs to external services that stream, for one worker.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_STREAMS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_STREAMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/base/queues.h"
#include "distbench/products/external/calls/external_peer.h"
#include "distbench/products/external/calls/wire_request.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/streams.h"
#include "distbench/protocol/tcp/agenda.h"

namespace distbench::external {

// By RPC index.
using RequestMakers = std::map<int, std::unique_ptr<RequestMaker>>;

// Each RPC is a call of its method, whose messages come from templates. gRPC
// takes a message once flow control has let it take the one before; a rate
// holds back each message as it does an RPC, in the order of Write().
//
// The thread that polls the queue reads responses at once, unless the worker is
// far behind, and takes the time of all that happens; the worker learns of it
// by Deliver(). All members are for the thread that has the worker's turn.
class ExternalStreams {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // All arguments must outlive this. `wake` is called when there is something
  // to deliver, by the thread that polls the queue or has the turn.
  ExternalStreams(protocol::EventQueue& queue, std::vector<ExternalPeer>& peers,
                  const RequestMakers& makers, MessageCounts& counts,
                  const std::function<void()>& wake);

  // Requires that nothing is in flight.
  ~ExternalStreams();

  ExternalStreams(const ExternalStreams&) = delete;
  ExternalStreams& operator=(const ExternalStreams&) = delete;

  // As those of StreamTransport. `peer` is an index into the peers; the call's
  // own is not read. Write() returns the size that the template gives.
  void Open(protocol::ClientCall& call, int peer);
  int64_t Write(protocol::ClientCall& call, int64_t bytes, bool last);
  void Cancel(protocol::ClientCall& call);

  // As those of ExternalClient.
  bool Deliver(protocol::StreamEvents& events);
  bool has_events() const { return delivered_ != nullptr || !mailbox_.empty(); }
  void CancelAll();
  void Close();
  bool is_idle() const { return in_flight_.empty(); }

  // When Deliver() can send a message that a rate holds back, or end the stream
  // because it is too late; kNever if there is none.
  int64_t retry_ns() const {
    return std::min(free_ns_, deadlines_.next_due_ns());
  }

  // As Deliver(), without telling anyone: also lets streams read on.
  void DiscardEvents();

 private:
  class Stream;

  // What the worker has yet to learn of a stream.
  struct Event {
    enum class Kind { kWritten, kMessage, kDone };
    Stream* stream = nullptr;
    Kind kind = Kind::kMessage;
    int64_t now_ns = 0;
    int64_t bytes = 0;
    Event* next = nullptr;
  };

  // Those whose message waits for the rate of one peer, in order.
  struct HeldStreams {
    std::list<Stream*> streams;
    int64_t free_ns = 0;  // when the first may be sent
  };

  // From either thread.
  void Push(Event& event);
  // From the thread that polls the queue.
  void PushMessage(Stream& stream, int64_t bytes, int64_t now_ns);

  Event* TakeEvent();
  bool MustWait(Stream& stream);
  void Hold(Stream& stream, HeldStreams& held);
  void LetGo(Stream& stream);
  void SendHeld();
  void SendHeld(HeldStreams& held);
  void Remove(Stream& stream);

  protocol::EventQueue& queue_;
  std::vector<ExternalPeer>& peers_;
  const RequestMakers& makers_;
  MessageCounts& counts_;
  const std::function<void()>& wake_;
  base::ObjectPool<Stream> pool_;
  std::vector<Stream*> in_flight_;  // each knows its position
  // By peer; may be empty.
  std::map<const ExternalPeer*, HeldStreams> held_;
  int64_t free_ns_ = kNever;            // the earliest of them
  protocol::Agenda<Stream> deadlines_;  // of those that are held
  bool closed_ = false;

  base::MpscQueue<Event> mailbox_;
  Event* delivered_ = nullptr;  // taken from the mailbox
  // The events of messages: used by the thread that polls the queue, which gets
  // them back by `used_`.
  base::ObjectPool<Event> messages_;
  base::MpscQueue<Event> used_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_STREAMS_H_
