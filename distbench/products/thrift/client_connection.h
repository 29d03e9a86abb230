#ifndef DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_
#define DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "distbench/payload/message_codec.h"
#include "distbench/products/thrift/sequence_ids.h"
#include "distbench/products/thrift/thrift_connection.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::thrift {

// One connection of a worker to a server, which reconnects when it breaks, as
// the tcp driver's (tcp/client_connection.h).
class ThriftClientConnection final : public ThriftConnection,
                                     public protocol::CallOwner,
                                     public protocol::AgendaItem,
                                     private protocol::Redialer::Owner {
 public:
  using Calls = protocol::CallTable<ThriftClientConnection>;
  using Context = ThriftContext;
  using Listener = protocol::ClientListener<ThriftClientConnection>;

  // A request's other fields take less than the rest.
  static constexpr size_t kMaxTraceBytes = ThriftDecoder::kMaxKeptBytes - 512;

  // Takes over the connection of a target that has been reached; the first call
  // makes one to a target without a stream. `calls` holds the calls in flight.
  ThriftClientConnection(ThriftContext& context, protocol::DialTarget target,
                         Calls& calls, Listener& listener);

  bool is_up() const { return is_open(); }
  // Returns whether the connection accepts no more calls for now.
  bool is_full() const { return queued_bytes() >= max_queued_bytes_; }

  // Sends a request or queues it. Sets the call's sent_bytes and, before Poll()
  // returns, its sent_ns.
  void Send(protocol::ClientCall& call, uint64_t call_id,
            const payload::RequestHeader& header);

  // Call this before a call ends without a reply. Thrift has no way to tell the
  // server.
  void Abandon(protocol::ClientCall& /*call*/) {}

  // Sets the sent_ns of the calls queued since the last flush.
  void StampCalls() { unstamped_.Stamp(); }

  // Reconnects even if there are no calls.
  void RequestDial();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const { return redialer_.next_due_ns(); }
  void Work(int64_t now_ns) { redialer_.Work(now_ns); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events,
               protocol::TransportEvents& events) override;

 private:
  // ThriftConnection.
  void OnFlush() override { StampCalls(); }
  bool IsInUse() const override { return calls_in_flight() > 0; }
  void OnLost(const std::string& reason) override {
    GoDown(redialer_.LossError(reason));
  }

  // Redialer::Owner.
  void OnConnected(protocol::Stream stream) override {
    Open(std::move(stream), /*watched=*/true);
    listener_.OnDueChanged(*this);
  }
  void OnNotConnected(const std::string& error) override { GoDown(error); }

  protocol::StreamError OnMessage(const ThriftMessage& message, int64_t read_ns,
                                  protocol::TransportEvents& events);
  protocol::StreamError Complete(const ThriftMessage& reply,
                                 Calls::Entry& entry, int64_t read_ns,
                                 protocol::TransportEvents& events);
  void GoDown(const std::string& error);

  const int64_t max_queued_bytes_;
  Calls& calls_;
  Listener& listener_;
  SequenceIds<ThriftClientConnection> sequence_ids_;
  protocol::UnstampedCalls unstamped_;
  protocol::Redialer redialer_;
  protocol::HeadReader<payload::ResponseHeader> heads_;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_
