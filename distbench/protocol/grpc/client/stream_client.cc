// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/client/stream_client.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/client/client_side.h"

namespace distbench::protocol {

void ClientStream::Open(EventQueue& queue) {
  ++counts_.opened;
  ClientStreamSide::Open(channel_.get(), queue, kGenericStreamMethod,
                         gpr_inf_future(GPR_CLOCK_MONOTONIC), end_);
  Receive(reply_, receive_);
  sender_.Open(call_);
}

void ClientStream::Send(ClientCall& call, uint64_t sequence) {
  ++accepted_;
  call.sent_ns = kNotSent;
  call.sent_bytes = sender_.Send(sequence, HeaderOf(call), call.request_bytes);
}

void ClientStream::Abandon(ClientCall& call) {
  if (call.sent_ns == kNotSent) call.sent_ns = base::NowNs();
}

bool ClientStream::OnSend(uint64_t sequence) {
  Calls::Entry* entry;
  if (calls_.Find(sequence, entry) != Calls::Match::kFound) return false;
  entry->call->sent_ns = base::RealClock().MonotonicNs();
  return true;
}

void ClientStream::Retire() {
  retired_ = true;
  if (is_open() && !sender_.is_sending()) OnAllSent();
}

void ClientStream::OnAllSent() {
  if (retired_ && !half_closed_ && !ended_) HalfClose();
  FinishIfDone();
}

void ClientStream::HalfClose() {
  half_closed_ = true;
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  Start({operations, sender_.metadata_sent() ? 1u : 2u}, half_close_);
}

void ClientStream::OnReceived(bool, TransportEvents& events) {
  if (reply_.is_empty()) return;  // the stream ends
  Deliver(events);
  reply_.Clear();
  Receive(reply_, receive_);
}

void ClientStream::Deliver(TransportEvents& events) {
  payload::ResponseHeader header;
  uint64_t sequence = 0;
  int64_t bytes = 0;
  if (!reply_.Decode(header, sequence, bytes)) {
    return Fail("a reply is malformed");
  }
  Calls::Entry* entry;
  const Calls::Match match = calls_.Find(sequence, entry);
  if (match == Calls::Match::kEnded) {
    ++counts_.late_replies;
    return;
  }
  if (match == Calls::Match::kUnknown || entry->owner != this ||
      entry->call->sent_ns == kNotSent) {
    return Fail("a reply to a call that was never made");
  }
  ++answered_;
  ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = base::RealClock().MonotonicNs();
  call.received_bytes = bytes;
  TakeHeader(header, call);
  call.server_queue_ns = header.queue_ns;
  call.server_handler_ns = header.handler_ns;
  events.OnDone(&call);
}

void ClientStream::Fail(const char* violation) {
  violation_ = violation;
  Cancel();
}

void ClientStream::OnStatus(bool, TransportEvents&) {
  ended_ = true;
  sender_.Drop();
}

void ClientStream::FinishIfDone() {
  const bool done = ended_ && operations_ == 0 && !sender_.is_sending();
  if (done && !std::exchange(done_, true)) listener_.OnEnded(*this);
}

std::string ClientStream::Error() const {
  const std::string reason =
      violation_.empty() ? ErrorOf(status(), status_message()) : violation_;
  return absl::StrCat("UNAVAILABLE: the stream to ", channel_.target(),
                      " ended: ", reason);
}

namespace {

class GrpcStreamClient final : public ClientSide, ClientStream::Listener {
 public:
  GrpcStreamClient(EventQueue& queue, const StreamSettings& settings,
                   StreamCounts& counts)
      : queue_(queue), settings_(settings), counts_(counts) {}

  void SetChannels(std::vector<std::vector<Channel>> channels) override;
  bool Start(ClientCall* call) override;
  int64_t Work(TransportEvents& events) override;
  void Cancel(ClientCall& call) override { calls_.Cancel(call); }
  void CancelAll() override { calls_.CancelAll(); }
  void Close() override;
  void Abandon() override;
  size_t in_flight() const override {
    return calls_.in_flight() + streams_.size();
  }

 private:
  // One of the streams to a peer, which are replaced when they end.
  struct Place {
    Channel* channel = nullptr;
    ClientStream* stream = nullptr;  // null: the next call makes one
    int64_t open_ns = 0;             // the next one is not opened before
    RetryDelay delay = {};
  };
  struct Peer {
    std::vector<Channel> channels;
    std::vector<Place> places;
    size_t next = 0;  // the place whose turn it is
  };
  struct PlacedStream {
    std::unique_ptr<ClientStream> stream;
    Place* place;
  };

  static Place& NextPlace(Peer& peer);
  void MakeStream(Place& place);
  void FailCallsOfDead();
  int64_t AnsweredCount() const;
  void ExpireCalls(int64_t now_ns);
  void OpenStreams(int64_t now_ns);
  int64_t next_due_ns() const {
    return std::min(calls_.next_due_ns(), next_open_ns_);
  }

  // ClientStream::Listener.
  void OnEnded(ClientStream& stream) override;

  EventQueue& queue_;
  const StreamSettings settings_;
  StreamCounts& counts_;
  ClientCalls<ClientStream> calls_;
  LateDeadlines late_deadlines_;
  int64_t answered_count_ = 0;  // when deadlines were looked at last
  std::vector<Peer> peers_;
  std::vector<PlacedStream> streams_;
  // Streams that have ended, perhaps in a call that has not returned, until the
  // next Work() ends their calls.
  std::vector<std::unique_ptr<ClientStream>> dead_;
  int64_t next_open_ns_ = INT64_MAX;  // of the streams that wait to be opened
  bool closed_ = false;
};

void GrpcStreamClient::SetChannels(std::vector<std::vector<Channel>> channels) {
  peers_.clear();
  for (std::vector<Channel>& of_peer : channels) {
    Peer& peer = peers_.emplace_back();
    peer.channels = std::move(of_peer);
    peer.places.resize(settings_.streams);
    for (size_t i = 0; i < peer.places.size(); ++i) {
      peer.places[i].channel = &peer.channels[i % peer.channels.size()];
    }
  }
}

// Passes over streams that wait to be opened, unless all of them do.
GrpcStreamClient::Place& GrpcStreamClient::NextPlace(Peer& peer) {
  return TakeTurn(
      peer.places, peer.next,
      [](const Place& place) {
        return place.stream == nullptr || place.stream->is_open();
      },
      [](Place& /*waits*/) {});
}

void GrpcStreamClient::MakeStream(Place& place) {
  ClientStream::Listener& listener = *this;
  streams_.push_back({.stream = std::make_unique<ClientStream>(
                          *place.channel, calls_, counts_, listener),
                      .place = &place});
  place.stream = streams_.back().stream.get();
  if (place.open_ns <= base::NowNs()) {
    place.stream->Open(queue_);
  } else {
    next_open_ns_ = std::min(next_open_ns_, place.open_ns);
  }
}

bool GrpcStreamClient::Start(ClientCall* call) {
  if (closed_) [[unlikely]] {
    call->sent_ns = base::NowNs();
    call->sent_bytes = 0;
    calls_.EndWith(call, std::string(kCancelled));
    return true;
  }
  Place& place = NextPlace(peers_[call->peer]);
  if (place.stream == nullptr) MakeStream(place);
  ClientStream& stream = *place.stream;
  if (stream.waiting() >= settings_.send_queue_messages) return false;
  stream.Send(*call, calls_.Start(call, &stream));
  if (stream.accepted() == settings_.messages_per_stream) {
    place.stream = nullptr;
    stream.Retire();
  }
  return true;
}

int64_t GrpcStreamClient::Work(TransportEvents& events) {
  if (!dead_.empty()) FailCallsOfDead();
  if (next_due_ns() != INT64_MAX) {
    const int64_t now_ns = base::NowNs();
    ExpireCalls(now_ns);
    if (next_open_ns_ <= now_ns) OpenStreams(now_ns);
  }
  const bool delivered = calls_.DeliverEnded(
      base::RealClock(), [&](ClientCall* call) { events.OnDone(call); });
  return delivered ? 0 : next_due_ns();
}

// How many calls the present streams have answered.
int64_t GrpcStreamClient::AnsweredCount() const {
  int64_t count = 0;
  for (const PlacedStream& placed : streams_)
    count += placed.stream->answered();
  return count;
}

void GrpcStreamClient::ExpireCalls(int64_t now_ns) {
  const int64_t due_ns = calls_.next_due_ns();
  if (now_ns < due_ns) return;
  const int64_t answered_count = AnsweredCount();
  const bool nothing_left =
      std::exchange(answered_count_, answered_count) == answered_count;
  if (!late_deadlines_.MayJudge(due_ns, now_ns, nothing_left)) return;
  calls_.Expire(now_ns);
}

void GrpcStreamClient::OpenStreams(int64_t now_ns) {
  next_open_ns_ = INT64_MAX;
  for (const auto& [stream, place] : streams_) {
    if (stream->is_open()) continue;
    if (place->open_ns <= now_ns) {
      stream->Open(queue_);
    } else {
      next_open_ns_ = std::min(next_open_ns_, place->open_ns);
    }
  }
}

void GrpcStreamClient::OnEnded(ClientStream& stream) {
  const auto found = absl::c_find_if(streams_, [&](const PlacedStream& placed) {
    return placed.stream.get() == &stream;
  });
  Place& place = *found->place;
  if (place.stream == &stream) place.stream = nullptr;
  if (stream.answered() > 0) place.delay.Reset();
  if (!stream.ended_well()) place.open_ns = place.delay.After(base::NowNs());
  // A server that leaves at the end of a test ends streams that are idle.
  if (stream.calls_in_flight() > 0 || stream.broke_the_protocol()) {
    ++counts_.failed;
  }
  dead_.push_back(std::move(found->stream));
  streams_.erase(found);
}

// Ends the calls in flight on streams that have ended.
void GrpcStreamClient::FailCallsOfDead() {
  for (const std::unique_ptr<ClientStream>& stream : dead_) {
    if (stream->calls_in_flight() == 0) continue;
    calls_.ForEachOf(*stream, [&](ClientStream::Calls::Entry& entry) {
      stream->Abandon(*entry.call);
    });
    calls_.Lose(*stream, stream->Error());
  }
  dead_.clear();
}

void GrpcStreamClient::Close() {
  closed_ = true;
  CancelAll();
  next_open_ns_ = INT64_MAX;
  std::erase_if(streams_, [](const PlacedStream& placed) {
    return !placed.stream->is_open();
  });
  for (const PlacedStream& placed : streams_) placed.stream->Cancel();
}

void GrpcStreamClient::Abandon() {
  // The memory of the calls may be gone: Close() must not give them up.
  calls_.ForEach(
      [&](ClientStream::Calls::Entry& entry) { calls_.Remove(entry); });
  Close();
  calls_.DropEnded();
}

}  // namespace

std::unique_ptr<ClientSide> MakeStreamClient(EventQueue& queue,
                                             const StreamSettings& settings,
                                             StreamCounts& counts) {
  return std::make_unique<GrpcStreamClient>(queue, settings, counts);
}

}  // namespace distbench::protocol
