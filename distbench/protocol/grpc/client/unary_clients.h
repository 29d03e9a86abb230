// Clients that make a call of gRPC for each RPC: completions come by polling
// or by callback.

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENTS_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENTS_H_

#include <grpc/status.h>
#include <grpc/support/time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "glog/logging.h"

namespace distbench::protocol {

// The calls in flight by peer, for all client sides.

gpr_timespec DeadlineOf(const ClientCall& call);

// Returns an error in the form of ClientCall::error.
std::string ErrorOf(grpc_status_code code, absl::string_view message);

// Fills in `call` at its end. The response is an IncomingMessage or similar.
// `error` stores an error that is not part of the response.
template <typename Response>
void ReadEnd(grpc_status_code status, absl::string_view message,
             Response& response, std::string& error, ClientCall& call) {
  constexpr payload::ResponseHeader kNothing{
      .server_instance = payload::ResponseHeader::kNoInstance};
  payload::ResponseHeader header = kNothing;
  error.clear();
  if (status != GRPC_STATUS_OK) {
    error = ErrorOf(status, message);
  } else if (!response.Decode(header)) {
    error = ErrorOf(GRPC_STATUS_INTERNAL, "the response is malformed");
    header = kNothing;
  }
  call.received_bytes = response.size_bytes();
  call.responding_instance = header.server_instance;
  call.server_queue_ns = header.queue_ns;
  call.server_handler_ns = header.handler_ns;
  call.error = error.empty() ? header.error_message : absl::string_view(error);
}

// PendingCall is a ClientCall in flight with all that gRPC needs for it:
//   - Connection: makes its calls; constructible from a Channel&&
//   - Start(calls, call, connection): starts the call, whose end calls OnEnd()
//   - Cancel()
//   - Finish(): completes the ClientCall and returns it. Its strings are valid
//     until Release(), which prepares the PendingCall for its next use
//   - position, peer, abandoned, kept: members for the use of this class;
//   `kept`
//     is a std::shared_ptr<Connection>
template <typename PendingCall>
class CallsInFlight final : public ClientSide {
 public:
  // The queue must outlive this.
  explicit CallsInFlight(EventQueue& queue) : queue_(queue) {}
  ~CallsInFlight() override { CHECK(in_flight_.empty()); }

  CallsInFlight(const CallsInFlight&) = delete;
  CallsInFlight& operator=(const CallsInFlight&) = delete;

  EventQueue& queue() { return queue_; }

  void SetChannels(std::vector<std::vector<Channel>> channels) override {
    peers_.clear();
    for (std::vector<Channel>& of_peer : channels) {
      PeerState& peer = peers_.emplace_back();
      for (Channel& channel : of_peer) {
        peer.places.push_back(
            {.connection = std::make_shared<Connection>(std::move(channel))});
      }
    }
  }

  void LimitChannels(int64_t calls_per_channel,
                     std::vector<ChannelMaker> makers) override {
    calls_per_channel_ = calls_per_channel;
    for (size_t i = 0; i < peers_.size(); ++i) {
      peers_[i].make_channel = std::move(makers[i]);
      for (Place& place : peers_[i].places) {
        peers_[i].first.push_back(std::move(place.connection));
      }
    }
  }

  int64_t renewed_channels() const override { return renewed_channels_; }

  bool Start(ClientCall* call) override {
    PeerState& peer = peers_[call->peer];
    if (peer.in_flight == kMaxCallsPerPeer) return false;
    ++peer.in_flight;
    PendingCall* pending = pool_.Get();
    pending->peer = call->peer;
    pending->abandoned = false;
    pending->position = in_flight_.size();
    in_flight_.push_back(pending);
    call->transport_state = pending;
    Place& place = peer.NextPlace();
    if (calls_per_channel_ != 0) [[unlikely]] {
      Use(peer, place, *pending);
    }
    pending->Start(*this, *call, *place.connection);
    if (closed_) pending->Cancel();
    return true;
  }

  // Called at the end of a PendingCall, on the polling thread.
  void OnEnd(PendingCall& pending, TransportEvents& events) {
    --peers_[pending.peer].in_flight;
    in_flight_.back()->position = pending.position;
    std::swap(in_flight_[pending.position], in_flight_.back());
    in_flight_.pop_back();
    ClientCall* call = pending.abandoned ? nullptr : &pending.Finish();
    // Releasing first lets the next call reuse the same, warm memory. But the
    // storage of an error must stay until OnDone() returns.
    const bool failed = call != nullptr && !call->error.empty();
    if (!failed) Recycle(pending);
    if (call != nullptr) {
      call->transport_state = nullptr;
      events.OnDone(call);
    }
    if (failed) Recycle(pending);
  }

  // The server learns of it.
  void Cancel(ClientCall& call) override {
    auto* const pending = static_cast<PendingCall*>(call.transport_state);
    if (pending != nullptr) pending->Cancel();
  }

  void CancelAll() override {
    for (PendingCall* pending : in_flight_) pending->Cancel();
  }

  void Close() override {
    closed_ = true;
    CancelAll();
  }

  void Abandon() override {
    for (PendingCall* pending : in_flight_) pending->abandoned = true;
    Close();
  }

  size_t in_flight() const override { return in_flight_.size(); }

 private:
  // gRPC exposes no send queue: it takes any number of calls, at some kilobytes
  // each. With this many calls to a peer, its send queue counts as full.
  static constexpr int kMaxCallsPerPeer = 1 << 17;

  using Connection = typename PendingCall::Connection;

  // One connection at a time, and the calls that it was given.
  struct Place {
    // With limited calls, also kept by them; null before its first call.
    std::shared_ptr<Connection> connection;
    int64_t calls = 0;
  };

  struct PeerState {
    std::vector<Place> places;
    ChannelMaker make_channel;  // null if calls are not limited
    std::vector<std::shared_ptr<Connection>> first;  // with limited calls
    size_t next = 0;                                 // the next place
    int in_flight = 0;

    Place& NextPlace() {
      Place& place = places[next];
      if (++next == places.size()) next = 0;
      return place;
    }
  };

  // Makes the channel of a call if calls are limited. It closes after its last
  // call.
  void Use(PeerState& peer, Place& place, PendingCall& pending) {
    if (place.calls == calls_per_channel_) {
      place = {};
      renewed_channels_.fetch_add(1, std::memory_order_relaxed);
    }
    if (place.connection == nullptr) {
      place.connection = std::make_shared<Connection>(peer.make_channel());
    }
    ++place.calls;
    pending.kept = place.connection;
  }

  void Recycle(PendingCall& pending) {
    pending.Release();
    pending.kept.reset();
    pool_.Put(&pending);
  }

  EventQueue& queue_;
  std::vector<PeerState> peers_;
  base::ObjectPool<PendingCall> pool_;
  std::vector<PendingCall*> in_flight_;  // each knows its position
  int64_t calls_per_channel_ = 0;        // 0: no limit
  std::atomic<int64_t> renewed_channels_ = 0;
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_UNARY_CLIENTS_H_
