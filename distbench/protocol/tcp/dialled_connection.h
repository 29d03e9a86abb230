// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The client's end of a connection, whatever its protocol: how it is made anew,
// what its calls' replies do, and how it ends. The server's end is
// AcceptedConnection (stream_server.h).

#ifndef DISTBENCH_PROTOCOL_TCP_DIALLED_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_DIALLED_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/wire_time.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::protocol {

// One connection of a worker to a server, which reconnects when it breaks.
//
// When it breaks, the calls in flight fail. Calls that are started afterwards
// wait for the next attempt to connect: they are sent if it succeeds, and fail
// if it does not (dial.h). Without calls there are no attempts.
//
// `Self` is the class that inherits this; StreamClient uses it. `Base` is the
// connection of its protocol, a StreamConnection with a context(), OnFlush(),
// unwritten(), OnWritten() and OnLost(). Self has
//   int64_t Queue(ClientCall& call, uint64_t call_id,
//                 const payload::RequestHeader& header);
//   void OnEvents(uint32_t epoll_events, TransportEvents& events);
// of which the first queues a request, perhaps before the connection is open,
// and returns the size of its message; the other is OnReady() while it is open.
// Self may replace the public methods, and Forget(). Used by its worker's
// thread.
template <typename Self, typename Base>
class DialledConnection : public Base,
                          public CallOwner,
                          public AgendaItem,
                          private Redialer::Owner {
 public:
  using Calls = CallTable<Self>;
  using Listener = ClientListener<Self>;

  bool is_up() const { return this->is_open(); }
  // Returns whether the connection accepts no more calls for now.
  bool is_full() const { return this->queued_bytes() >= max_queued_bytes_; }

  // Sends a request or queues it. Sets the call's sent_bytes and, before Poll()
  // returns, its sent_ns.
  void Send(ClientCall& call, uint64_t call_id,
            const payload::RequestHeader& header) {
    // Must precede Queue(), which may flush.
    NoteUnsent(call);
    call.sent_bytes = self().Queue(call, call_id, header);
    if (!this->is_open()) RequestDial();
  }

  // Call this before a call ends without a reply. The server is not told. The
  // engine may hear of the end, and use the call again, before the next flush.
  void Abandon(ClientCall& call) {
    if (call.sent_ns == 0) StampCalls();
    ForgetWireTime(call);
  }

  // Sets the sent_ns of the calls queued since the last flush.
  void StampCalls() {
    if (wire_times_ != nullptr) WireTimes::Leave(unstamped_.calls());
    unstamped_.Stamp();
  }

  // Reconnects even if there are no calls.
  void RequestDial() {
    if (this->is_open() || redialer_.is_pending()) return;
    redialer_.Request();
    NoteDue();
  }

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const { return redialer_.next_due_ns(); }
  void Work(int64_t now_ns) { redialer_.Work(now_ns); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) final {
    if (redialer_.is_dialing()) return redialer_.Continue();
    if (!this->is_open()) return;
    if (epoll_events & EPOLLERR) [[unlikely]] {
      epoll_events = this->TakeReports(epoll_events);
      if (epoll_events == 0) return;
    }
    if (wire_times_ != nullptr) [[unlikely]] {
      this->stream().stamps()->set_stamps_receives(wire_times_->awaits_reply());
    }
    self().OnEvents(epoll_events, events);
    this->SettleError();
  }

 protected:
  // Takes over the connection of a target that has been reached; the first call
  // makes one to a target without a stream. `calls` holds the calls in flight.
  // The context and `arguments` are Base's.
  template <typename Context, typename... Arguments>
  DialledConnection(Context& context, DialTarget& target, Calls& calls,
                    Listener& listener, Arguments... arguments)
      : Base(context, arguments...),
        max_queued_bytes_(context.settings.send_queue_bytes),
        calls_(calls),
        listener_(listener),
        redialer_(context, target, context.settings.handshake_timeout_ns, *this,
                  *this),
        wire_times_(MakeWireTimes(context)) {
    if (!target.stream.is_open()) return;
    this->Open(std::move(target.stream), /*watched=*/false);
  }
  ~DialledConnection() = default;

  // The call is about to be queued. A call that comes from another connection,
  // which the server has ended, keeps its time: the wait there belongs to it.
  void NoteUnsent(ClientCall& call) {
    if (call.sent_ns == 0) unstamped_.Add(call);
  }

  // next_due_ns() may have changed.
  void NoteDue() { listener_.OnDueChanged(self()); }

  // Whether a call waits for the reply that looking for its id has led to. If
  // not, `error` is what is wrong with the reply: kNone if it is only late.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool IsAwaited(
      typename Calls::Match match, const typename Calls::Entry* entry,
      StreamError& error) {
    if (match == Calls::Match::kEnded) {
      ++this->context().counters.late_replies;
      error = StreamError::kNone;
      return false;
    }
    // The request of another connection, or one that was not sent yet.
    error = StreamError::kUnknownCall;
    return match == Calls::Match::kFound && entry->owner == &self() &&
           entry->call->sent_ns != 0;
  }

  // Takes the call from the table, and sets what its reply says. `bytes` is the
  // size of the message. The caller tells the engine.
  ABSL_ATTRIBUTE_ALWAYS_INLINE ClientCall& TakeReply(
      typename Calls::Entry& entry, const payload::ResponseHeader& header,
      int64_t bytes, int64_t read_ns) {
    redialer_.OnReply();
    ClientCall& call = *entry.call;
    calls_.Remove(entry);
    call.done_ns = read_ns;
    call.received_bytes = bytes;
    TakeHeader(header, call);
    if (wire_times_ != nullptr) [[unlikely]] {
      TakeWireTime(call);
    }
    return call;
  }

  // Sets the server's times, for protocols whose headers have them.
  void TakeTimes(const payload::ResponseHeader& header, ClientCall& call) {
    if (!this->context().settings.measures_time_parts) return;
    call.server_queue_ns = header.queue_ns;
    call.server_handler_ns = header.handler_ns;
  }

  // Call this when a call leaves the connection without a reply.
  void ForgetWireTime(ClientCall& call) {
    if (wire_times_ != nullptr) wire_times_->Forget(call);
  }

  // Closes the connection, and fails the calls in flight.
  void GoDown(const std::string& error) {
    StampCalls();
    this->Close();
    if (wire_times_ != nullptr) wire_times_->Reset();
    self().Forget();
    redialer_.OnDown(base::RealClock().MonotonicNs());
    NoteDue();
    listener_.OnDown(self(), error);
  }

  // The connection has closed, and its calls are about to fail.
  void Forget() {}

  // Redialer::Owner.
  void OnConnected(Stream stream) override {
    this->Open(std::move(stream), /*watched=*/true);
    NoteDue();
  }

  const Redialer& redialer() const { return redialer_; }

  const int64_t max_queued_bytes_;
  Calls& calls_;
  Listener& listener_;

 private:
  Self& self() { return static_cast<Self&>(*this); }

  // Null if the calls get no time stamps.
  template <typename Context>
  static std::unique_ptr<WireTimes> MakeWireTimes(Context& context) {
    const config::WireTimeOptions& options = context.security.wire_time;
    if (options.share <= 0) return nullptr;
    return std::make_unique<WireTimes>(options, ++context.wire_time_seeds,
                                       context.counters);
  }

  // StreamConnection and Base.
  void OnFlush() final {
    if (wire_times_ != nullptr) [[unlikely]] {
      wire_times_->OnFlush(unstamped_.calls(), this->unwritten());
      if (this->is_open()) UpdateStamps();
    }
    unstamped_.Stamp();
  }
  void OnWritten(int64_t bytes) final {
    wire_times_->OnWritten(bytes, this->stream().stamps()->last_byte());
    TakeSent();
    UpdateStamps();
  }
  void TakeSent() {
    SocketStamps& stamps = *this->stream().stamps();
    wire_times_->OnLeft(stamps.sent());
    stamps.ForgetSent();
  }
  // Not inline, so that TakeReply() is small.
  ABSL_ATTRIBUTE_NOINLINE void TakeWireTime(ClientCall& call) {
    SocketStamps& stamps = *this->stream().stamps();
    if (wire_times_->awaits_stamp(call)) {
      stamps.Collect();
      TakeSent();
    }
    wire_times_->OnReply(call, calls_in_flight(), stamps.received());
  }
  void UpdateStamps() {
    this->stream().stamps()->set_stamps_sends(wire_times_->awaits_write());
  }
  bool IsInUse() const final { return calls_in_flight() > 0; }
  void OnLost(const std::string& reason) final {
    GoDown(LossError(redialer_.name(), reason));
  }

  // Redialer::Owner.
  void OnNotConnected(const std::string& error) final { GoDown(error); }

  UnstampedCalls unstamped_;
  Redialer redialer_;
  const std::unique_ptr<WireTimes> wire_times_;  // null: no time stamps
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_DIALLED_CONNECTION_H_
