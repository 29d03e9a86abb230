#ifndef DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::protocol {

// One connection of a worker to a server, which reconnects when it breaks.
//
// When it breaks, the calls in flight fail. Calls that are started afterwards
// wait for the next attempt to connect: they are sent if it succeeds, and fail
// if it does not (dial.h). Without calls there are no attempts.
class ClientConnection final : public Connection,
                               public CallOwner,
                               public AgendaItem,
                               private Redialer::Owner {
 public:
  using Calls = CallTable<ClientConnection>;
  using Context = ConnectionContext;
  using Listener = ClientListener<ClientConnection>;

  // A request's other fields take less than the rest of kMaxHeadBytes.
  static constexpr size_t kMaxTraceBytes = kMaxHeadBytes - 256;

  // Takes over the connection of a target that has been reached; the first call
  // makes one to a target without a stream. `calls` holds the calls in flight.
  ClientConnection(ConnectionContext& context, DialTarget target, Calls& calls,
                   Listener& listener);
  ~ClientConnection() { Close(); }

  bool is_up() const { return is_open(); }
  // Returns whether the connection accepts no more calls for now.
  bool is_full() const { return queued_bytes() >= max_queued_bytes_; }

  // Sends a request or queues it. Sets the call's sent_bytes and, before Poll()
  // returns, its sent_ns.
  void Send(ClientCall& call, uint64_t call_id,
            const payload::RequestHeader& header) {
    // Must precede Send(), which may flush.
    unstamped_.Add(call);
    call.sent_bytes = Connection::Send(FrameKind::kRequest, call_id, header,
                                       call.request_bytes);
    if (!is_open()) RequestDial();
  }

  // Call this before a call ends without a reply. The server is not told.
  void Abandon(ClientCall& /*call*/) {}

  // Sets the sent_ns of the calls queued since the last flush.
  void StampCalls() { unstamped_.Stamp(); }

  // Reconnects even if there are no calls.
  void RequestDial();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const { return redialer_.next_due_ns(); }
  void Work(int64_t now_ns) { redialer_.Work(now_ns); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  void OnFlush() override { StampCalls(); }
  bool IsInUse() const override { return calls_in_flight() > 0; }
  void OnLost(const std::string& reason) override {
    GoDown(redialer_.LossError(reason));
  }

  // Redialer::Owner.
  void OnConnected(Stream stream) override {
    Open(std::move(stream), /*watched=*/true);
    listener_.OnDueChanged(*this);
  }
  void OnNotConnected(const std::string& error) override { GoDown(error); }

  template <FrameKind kind>
  ABSL_ATTRIBUTE_ALWAYS_INLINE StreamError OnReply(const FrameHeader& header,
                                                   absl::string_view head,
                                                   int64_t read_ns,
                                                   TransportEvents& events);
  template <FrameKind kind>
  void ReadReplies(TransportEvents& events);
  void GoDown(const std::string& error);

  const bool expects_times_;
  const int64_t max_queued_bytes_;
  Calls& calls_;
  Listener& listener_;
  UnstampedCalls unstamped_;

  Redialer redialer_;
  HeadReader<payload::ResponseHeader> heads_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
