// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/wire/stream_side.h"

#include <memory>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "glog/logging.h"

namespace distbench::protocol {

StreamSide::~StreamSide() {
  if (call_ != nullptr) grpc_call_unref(call_);
}

void StreamSide::Start(absl::Span<const grpc_op> operations,
                       Completion& completion) {
  ++operations_;
  CHECK_EQ(grpc_call_start_batch(call_, operations.data(), operations.size(),
                                 &completion, nullptr),
           GRPC_CALL_OK);
}

void StreamSide::Receive(IncomingMessage& message, Completion& completion) {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = message.slot();
  Start({&operation, 1}, completion);
}

ClientStreamSide::~ClientStreamSide() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
  grpc_slice_unref(status_message_);
}

void ClientStreamSide::Open(grpc_channel* channel, EventQueue& queue,
                            const char* method, gpr_timespec deadline,
                            Completion& end) {
  call_ = grpc_channel_create_call(
      channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue.get(),
      grpc_slice_from_static_string(method), nullptr, deadline, nullptr);
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[0].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  auto& status = operations[1].data.recv_status_on_client;
  status.trailing_metadata = &trailing_metadata_;
  status.status = &status_;
  status.status_details = &status_message_;
  Start(operations, end);
}

void ServerStreamSide::Ask() {
  grpc_completion_queue* const queue = owner_.queue_.get();
  ++operations_;
  CHECK_EQ(grpc_server_request_registered_call(
               owner_.server_, owner_.method_, &call_, &deadline_, &metadata_,
               nullptr, queue, queue, static_cast<Completion*>(&ask_)),
           GRPC_CALL_OK);
}

void ServerStreamSide::OnAsked(bool ok, TransportEvents&) {
  if (!ok) {  // the server is being shut down
    ended_ = true;
    return;
  }
  owner_.Accept();
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  operation.data.recv_close_on_server.cancelled = &cancelled_;
  Start({&operation, 1}, closed_);
  OnAccepted();
}

void ServerStreamSide::OnClosed(bool, TransportEvents& events) {
  ended_ = true;
  OnEnded(events);
}

void ServerStreamSide::Settle() {
  if (!ended_ || operations_ > 0) return;
  if (!std::exchange(settled_, true)) --owner_.active_;
  if (!is_lent()) owner_.DestroySoon(*this);
}

ServerStreams::~ServerStreams() { CHECK(drained()); }

void ServerStreams::Serve(grpc_server* server, void* method) {
  server_ = server;
  method_ = method;
  for (int i = 0; i < ahead_; ++i) Accept();
}

void ServerStreams::Accept() {
  dead_.clear();
  if (closed_) return;
  ++active_;
  sides_.push_back(MakeSide());
  sides_.back()->position_ = sides_.size() - 1;
  sides_.back()->Ask();
}

void ServerStreams::DestroySoon(ServerStreamSide& side) {
  sides_.back()->position_ = side.position_;
  std::swap(sides_[side.position_], sides_.back());
  dead_.push_back(std::move(sides_.back()));
  sides_.pop_back();
}

void MessageSender::Open(grpc_call* call) {
  call_ = call;
  SendNext();
}

template <typename Header>
int64_t MessageSender::Send(uint64_t sequence, const Header& header,
                            int64_t target_bytes) {
  Message& message = *pool_.Get();
  message.sequence = sequence;
  const int64_t bytes = message.content.Fill(header, target_bytes, sequence);
  if (is_open() && !is_sending()) {
    owner_.OnSend(sequence);
    Start(message);
  } else {
    Queue(message);
  }
  return bytes;
}

template int64_t MessageSender::Send(uint64_t, const payload::RequestHeader&,
                                     int64_t);
template int64_t MessageSender::Send(uint64_t, const payload::ResponseHeader&,
                                     int64_t);

void MessageSender::Queue(Message& message) {
  message.next = nullptr;
  if (first_ == nullptr) {
    first_ = &message;
    blocked_since_ns_ = base::NowNs();
  } else {
    last_->next = &message;
  }
  last_ = &message;
  ++waiting_;
  ++counts_.messages_waited;
}

MessageSender::Message& MessageSender::TakeFirst() {
  Message& message = *std::exchange(first_, first_->next);
  --waiting_;
  if (first_ == nullptr)
    counts_.blocked_ns += base::NowNs() - blocked_since_ns_;
  return message;
}

void MessageSender::SendNext() {
  while (first_ != nullptr) {
    Message& message = TakeFirst();
    const bool is_needed = owner_.OnSend(message.sequence);
    // The last message makes gRPC send those that it holds back.
    if (is_needed || (held_back_ && first_ == nullptr)) return Start(message);
    pool_.Put(&message);
  }
  owner_.OnAllSent();
}

void MessageSender::Start(Message& message) {
  sending_ = &message;
  held_back_ = first_ != nullptr;
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_SEND_MESSAGE;
  operations[0].flags = held_back_ ? GRPC_WRITE_BUFFER_HINT : 0;
  operations[0].data.send_message.send_message = message.content.get();
  operations[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  const int count = std::exchange(metadata_sent_, true) ? 1 : 2;
  CHECK_EQ(grpc_call_start_batch(call_, operations, count,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void MessageSender::OnComplete(bool ok, TransportEvents&) {
  pool_.Put(std::exchange(sending_, nullptr));
  if (!ok) Drop();
  SendNext();
}

void MessageSender::Drop() {
  while (first_ != nullptr) pool_.Put(&TakeFirst());
}

std::vector<DriverCounter> StreamCounts::List() const {
  std::vector<DriverCounter> counters;
  AddCounters({{"streams_opened", opened},
               {"streams_failed", failed},
               {"messages_waited", messages_waited},
               {"send_blocked_us", blocked_ns / 1000},
               {"late_replies", late_replies}},
              counters);
  return counters;
}

}  // namespace distbench::protocol
