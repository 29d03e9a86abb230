// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The client side that makes a call of gRPC for each RPC.

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// gRPC exposes no send queue: it takes any number of calls, at some kilobytes
// each. With this many calls to a peer, its send queue counts as full.
constexpr int kMaxCallsPerPeer = 1 << 17;

class UnaryClient final : public ClientSide {
 public:
  // For the arguments, see MakeUnaryClient().
  UnaryClient(EventQueue& queue, const CallbackQueue* callbacks)
      : queue_(queue), callbacks_(callbacks) {}
  ~UnaryClient() override;

  UnaryClient(const UnaryClient&) = delete;
  UnaryClient& operator=(const UnaryClient&) = delete;

  void SetChannels(std::vector<std::vector<Channel>> channels) override;
  void LimitChannels(int64_t calls_per_channel,
                     std::vector<ChannelMaker> makers) override;
  int64_t renewed_channels() const override { return renewed_channels_; }

  bool Start(ClientCall* call) override;
  void Cancel(ClientCall& call) override;
  void CancelAll() override;
  void Close() override;
  void Abandon() override;
  size_t in_flight() const override { return in_flight_.size(); }

 private:
  class Call;

  // One channel at a time, and the calls that it was given.
  struct Place {
    // With limited calls, also kept by them; null before its first call.
    std::shared_ptr<Channel> channel;
    int64_t calls = 0;
  };

  struct PeerState {
    std::vector<Place> places;
    ChannelMaker make_channel;  // null if calls are not limited
    std::vector<std::shared_ptr<Channel>> first;  // with limited calls
    size_t next = 0;                              // the next place
    int in_flight = 0;

    Place& NextPlace() {
      Place& place = places[next];
      if (++next == places.size()) next = 0;
      return place;
    }
  };

  void Use(PeerState& peer, Place& place, Call& call);

  // A call has ended. Called by the thread that has the turn.
  void OnEnd(Call& call, TransportEvents& events);

  EventQueue& queue_;
  const CallbackQueue* const callbacks_;
  std::vector<PeerState> peers_;
  base::ObjectPool<Call> pool_;
  std::vector<Call*> in_flight_;   // each knows its position
  int64_t calls_per_channel_ = 0;  // 0: no limit
  std::atomic<int64_t> renewed_channels_ = 0;
  bool closed_ = false;
};

// A ClientCall in flight with all that gRPC needs for it. With callbacks, gRPC
// uses it between Start() and OnComplete(); only Cancel() may be called then.
class UnaryClient::Call final : public Completion, private Callback {
 public:
  Call();
  ~Call();

  void Start(UnaryClient& client, ClientCall& call, Channel& channel);
  void Cancel() { grpc_call_cancel(grpc_call_, nullptr); }

  // Completes the ClientCall and returns it. Its strings are valid until
  // Release(), which prepares this for its next use.
  ClientCall& Finish();
  void Release();

  // For the client.
  int peer = 0;
  size_t position = 0;  // among the calls in flight
  bool abandoned = false;
  std::shared_ptr<Channel> kept;  // with limited calls

 private:
  static constexpr int kOperations = 6;

  void OnCallback(bool ok) override;
  void OnComplete(bool ok, TransportEvents& events) override;
  void ReadResponse();

  UnaryClient* client_ = nullptr;
  ClientCall* call_ = nullptr;
  grpc_call* grpc_call_ = nullptr;

  grpc_op operations_[kOperations] = {};
  OutgoingMessage request_;
  IncomingMessage response_;
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
  int64_t done_ns_ = 0;
  std::string error_;  // an error that is not part of the response
};

UnaryClient::Call::Call() {
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations_[1].op = GRPC_OP_SEND_MESSAGE;
  operations_[1].data.send_message.send_message = request_.get();
  operations_[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations_[3].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations_[3].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations_[4].op = GRPC_OP_RECV_MESSAGE;
  operations_[4].data.recv_message.recv_message = response_.slot();
  operations_[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations_[5].data.recv_status_on_client.trailing_metadata =
      &trailing_metadata_;
  operations_[5].data.recv_status_on_client.status = &status_;
  operations_[5].data.recv_status_on_client.status_details = &status_message_;
}

UnaryClient::Call::~Call() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void UnaryClient::Call::Start(UnaryClient& client, ClientCall& call,
                              Channel& channel) {
  client_ = &client;
  call_ = &call;
  const CallbackQueue* const callbacks = client.callbacks_;
  void* const tag =
      callbacks == nullptr ? static_cast<Completion*>(this) : Callback::tag();
  call.sent_bytes = request_.Fill(HeaderOf(call), call.request_bytes);
  grpc_call_ = channel.MakeCall(
      callbacks == nullptr ? client.queue_.get() : callbacks->get(),
      DeadlineOf(call));
  call.sent_ns = base::RealClock().MonotonicNs();
  CHECK_EQ(
      grpc_call_start_batch(grpc_call_, operations_, kOperations, tag, nullptr),
      GRPC_CALL_OK);
}

void UnaryClient::Call::OnCallback(bool) {
  done_ns_ = base::RealClock().MonotonicNs();
  client_->queue_.Post(*this);
}

void UnaryClient::Call::OnComplete(bool, TransportEvents& events) {
  if (client_->callbacks_ == nullptr) {
    done_ns_ = base::RealClock().MonotonicNs();
  }
  client_->OnEnd(*this, events);
}

ClientCall& UnaryClient::Call::Finish() {
  call_->done_ns = done_ns_;
  ReadResponse();
  return *call_;
}

void UnaryClient::Call::ReadResponse() {
  constexpr payload::ResponseHeader kNothing{
      .server_instance = payload::ResponseHeader::kNoInstance};
  payload::ResponseHeader header = kNothing;
  error_.clear();
  if (status_ != GRPC_STATUS_OK) {
    error_ = ErrorOf(status_, ViewOf(status_message_));
  } else if (!response_.Decode(header)) {
    error_ = ErrorOf(GRPC_STATUS_INTERNAL, "the response is malformed");
    header = kNothing;
  }
  call_->received_bytes = response_.size_bytes();
  call_->responding_instance = header.server_instance;
  call_->server_queue_ns = header.queue_ns;
  call_->server_handler_ns = header.handler_ns;
  call_->error =
      error_.empty() ? header.error_message : absl::string_view(error_);
}

void UnaryClient::Call::Release() {
  response_.Clear();
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements belong to the call; the arrays are reused.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  grpc_call_unref(grpc_call_);
  kept.reset();
}

UnaryClient::~UnaryClient() { CHECK(in_flight_.empty()); }

void UnaryClient::SetChannels(std::vector<std::vector<Channel>> channels) {
  peers_.clear();
  for (std::vector<Channel>& of_peer : channels) {
    PeerState& peer = peers_.emplace_back();
    for (Channel& channel : of_peer) {
      peer.places.push_back(
          {.channel = std::make_shared<Channel>(std::move(channel))});
    }
  }
}

void UnaryClient::LimitChannels(int64_t calls_per_channel,
                                std::vector<ChannelMaker> makers) {
  calls_per_channel_ = calls_per_channel;
  for (size_t i = 0; i < peers_.size(); ++i) {
    peers_[i].make_channel = std::move(makers[i]);
    for (Place& place : peers_[i].places) {
      peers_[i].first.push_back(std::move(place.channel));
    }
  }
}

bool UnaryClient::Start(ClientCall* call) {
  PeerState& peer = peers_[call->peer];
  if (peer.in_flight == kMaxCallsPerPeer) return false;
  ++peer.in_flight;
  Call* const pending = pool_.Get();
  pending->peer = call->peer;
  pending->abandoned = false;
  pending->position = in_flight_.size();
  in_flight_.push_back(pending);
  call->transport_state = pending;
  Place& place = peer.NextPlace();
  if (calls_per_channel_ != 0) [[unlikely]] {
    Use(peer, place, *pending);
  }
  pending->Start(*this, *call, *place.channel);
  if (closed_) pending->Cancel();
  return true;
}

// Makes the channel of a call if calls are limited. It closes after its last
// call.
void UnaryClient::Use(PeerState& peer, Place& place, Call& call) {
  if (place.calls == calls_per_channel_) {
    place = {};
    renewed_channels_.fetch_add(1, std::memory_order_relaxed);
  }
  if (place.channel == nullptr) {
    place.channel = std::make_shared<Channel>(peer.make_channel());
  }
  ++place.calls;
  call.kept = place.channel;
}

void UnaryClient::OnEnd(Call& pending, TransportEvents& events) {
  --peers_[pending.peer].in_flight;
  in_flight_.back()->position = pending.position;
  std::swap(in_flight_[pending.position], in_flight_.back());
  in_flight_.pop_back();
  ClientCall* const call = pending.abandoned ? nullptr : &pending.Finish();
  const auto recycle = [&] {
    pending.Release();
    pool_.Put(&pending);
  };
  // Releasing first lets the next call reuse the same, warm memory. But the
  // storage of an error must stay until OnDone() returns.
  const bool failed = call != nullptr && !call->error.empty();
  if (!failed) recycle();
  if (call != nullptr) {
    call->transport_state = nullptr;
    events.OnDone(call);
  }
  if (failed) recycle();
}

// The server learns of it.
void UnaryClient::Cancel(ClientCall& call) {
  auto* const pending = static_cast<Call*>(call.transport_state);
  if (pending != nullptr) pending->Cancel();
}

void UnaryClient::CancelAll() {
  for (Call* pending : in_flight_) pending->Cancel();
}

void UnaryClient::Close() {
  closed_ = true;
  CancelAll();
}

void UnaryClient::Abandon() {
  for (Call* pending : in_flight_) pending->abandoned = true;
  Close();
}

}  // namespace

std::unique_ptr<ClientSide> MakeUnaryClient(EventQueue& queue,
                                            const CallbackQueue* callbacks) {
  return std::make_unique<UnaryClient>(queue, callbacks);
}

}  // namespace distbench::protocol
