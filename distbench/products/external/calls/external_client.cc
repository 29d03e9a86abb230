// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_client.h"

#include <grpc/byte_buffer.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::external {
namespace {

// The operations by their positions. The status comes last, because a stream's
// is asked for separately, behind its last response.
enum Position {
  kSendMetadata,
  kSend,
  kClose,
  kReceiveMetadata,
  kReceive,
  kEnd
};

}  // namespace

PendingCall::PendingCall() {
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  operations_[kSendMetadata].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations_[kSend].op = GRPC_OP_SEND_MESSAGE;
  operations_[kClose].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations_[kReceiveMetadata].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations_[kReceiveMetadata].data.recv_initial_metadata = {
      &initial_metadata_};
  operations_[kReceive].op = GRPC_OP_RECV_MESSAGE;
  operations_[kReceive].data.recv_message = {&response_};
  operations_[kEnd].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations_[kEnd].data.recv_status_on_client = {&trailing_metadata_, &status_,
                                                  &status_message_, nullptr};
}

PendingCall::~PendingCall() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void PendingCall::Start(protocol::ClientCall& call, RequestMaker* requests,
                        ExternalPeer& peer, grpc_completion_queue* queue,
                        MessageCounts& counts, EndedCalls& ended) {
  call_ = &call;
  ended_ = &ended;
  peer_ = &peer;
  counts_ = &counts;
  response_error_.clear();
  responses_ = 0;
  received_bytes_ = 0;
  if (requests == nullptr) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("RPC ", call.rpc_index, " has no external call")));
  }
  const absl::StatusOr<WireRequest*> made =
      requests->Next({.message_bytes = call.request_bytes}, request_);
  if (!made.ok()) return Fail(made.status());
  WireRequest& request = **made;
  request_buffer_ = request.NewBuffer();
  operations_[kSend].data.send_message = {request_buffer_};
  operations_[kSendMetadata].flags = requests->metadata_flags();
  operations_[kSendMetadata].data.send_initial_metadata.count =
      request.metadata().size();
  operations_[kSendMetadata].data.send_initial_metadata.metadata =
      request.metadata().data();
  call.sent_bytes = request.size_bytes();
  channel_ = peer.Take();
  grpc_call_ = peer.MakeCall(channel_, call.rpc_index, requests->method(),
                             queue, protocol::DeadlineOf(call));
  is_stream_ = requests->server_streams();
  reads_stream_ = is_stream_;
  call.sent_ns = base::NowNs();
  StartBatch(operations_, is_stream_ ? kOperations - 1 : kOperations);
}

void PendingCall::StartBatch(const grpc_op* operations, size_t count) {
  CHECK_EQ(
      grpc_call_start_batch(grpc_call_, operations, count,
                            static_cast<protocol::Completion*>(this), nullptr),
      GRPC_CALL_OK);
}

void PendingCall::Fail(const absl::Status& status) {
  status_ = static_cast<grpc_status_code>(status.code());
  const std::string message(status.message());
  status_message_ = grpc_slice_from_copied_string(message.c_str());
  call_->sent_ns = done_ns_ = base::NowNs();
  call_->sent_bytes = 0;
  ended_->OnEnded(*this);
}

void PendingCall::Cancel() {
  if (grpc_call_ != nullptr) grpc_call_cancel(grpc_call_, nullptr);
}

void PendingCall::OnComplete(bool /*ok*/,
                             protocol::TransportEvents& /*events*/) {
  const bool has_response = TakeResponse();
  if (reads_stream_) {
    reads_stream_ = has_response;
    return StartBatch(&operations_[has_response ? kReceive : kEnd], 1);
  }
  done_ns_ = base::NowNs();
  ended_->OnEnded(*this);
}

// Returns whether there was a response.
bool PendingCall::TakeResponse() {
  if (response_ == nullptr) return false;
  ++responses_;
  const absl::StatusOr<int64_t> bytes =
      MeasureResponse(*response_, peer_->max_response_bytes(), *counts_);
  grpc_byte_buffer_destroy(std::exchange(response_, nullptr));
  if (bytes.ok()) {
    received_bytes_ += *bytes;
  } else if (response_error_.empty()) {
    response_error_ =
        protocol::ErrorOf(static_cast<grpc_status_code>(bytes.status().code()),
                          bytes.status().message());
    if (reads_stream_) Cancel();
  }
  return true;
}

std::string PendingCall::ErrorOfEnd() const {
  if (!response_error_.empty()) return response_error_;
  if (status_ != GRPC_STATUS_OK) {
    return ErrorOfCall(status_, protocol::ViewOf(status_message_),
                       peer_->max_response_bytes(), *counts_);
  }
  if (responses_ > 0 || is_stream_) return "";
  return protocol::ErrorOf(GRPC_STATUS_INTERNAL, "the server sent no response");
}

protocol::ClientCall& PendingCall::Finish() {
  call_->done_ns = done_ns_;
  call_->received_bytes = received_bytes_;
  // Those of the call before, which may have gone to a server of the test.
  call_->server_queue_ns = protocol::kNotReported;
  call_->server_handler_ns = protocol::kNotReported;
  error_ = ErrorOfEnd();
  call_->responding_instance =
      error_.empty() ? call_->server_instance : protocol::kNoInstance;
  call_->error = error_;
  return *call_;
}

void PendingCall::Release() {
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements belong to the call; the arrays are used again.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  request_.Clear();
  if (grpc_call_ == nullptr) return;
  peer_->GiveBack(channel_);
  grpc_byte_buffer_destroy(request_buffer_);
  grpc_call_unref(grpc_call_);
  grpc_call_ = nullptr;
}

namespace {

// gRPC takes any number of calls, at some kilobytes each. With this many, the
// send queue counts as full.
constexpr size_t kMaxCalls = 1 << 17;

// Calls per delivery: few enough not to starve timers.
constexpr int kMaxDelivered = 64;

}  // namespace

ExternalClient::ExternalClient(protocol::EventQueue& queue,
                               std::vector<ExternalPeer> peers,
                               RequestMakers makers, MessageCounts& counts)
    : queue_(queue),
      peers_(std::move(peers)),
      makers_(std::move(makers)),
      counts_(counts),
      streams_(queue_, peers_, makers_, counts_, wake_soon_) {}

ExternalClient::ExternalClient(std::unique_ptr<PollingThread> thread,
                               std::vector<ExternalPeer> peers,
                               RequestMakers makers, MessageCounts& counts)
    : thread_(std::move(thread)),
      queue_(thread_->queue()),
      peers_(std::move(peers)),
      makers_(std::move(makers)),
      counts_(counts),
      streams_(queue_, peers_, makers_, counts_, wake_soon_) {}

ExternalClient::~ExternalClient() {
  CancelAll();
  if (thread_ != nullptr) thread_->Stop();
  protocol::NoEvents nobody;
  while (!is_idle()) {
    streams_.DiscardEvents();
    if (PendingCall* pending = TakeEnded()) {
      Remove(*pending);
    } else if (!is_idle()) {
      queue_.Poll(kNever, nobody);
    }
  }
}

void ExternalClient::WakeSoon() {
  if (thread_ != nullptr) thread_->WakeSoon();
}

bool ExternalClient::Start(protocol::ClientCall* call) {
  ExternalPeer& peer = peers_[call->peer];
  if (in_flight_.size() == kMaxCalls) return false;
  if (const int64_t free_ns = peer.TryPass(); free_ns > 0) {
    retry_ns_ = std::min(retry_ns_, free_ns);
    return false;
  }
  PendingCall* pending = pool_.Get();
  pending->position = in_flight_.size();
  in_flight_.push_back(pending);
  call->transport_state = pending;
  const auto maker = makers_.find(call->rpc_index);
  pending->Start(*call, maker == makers_.end() ? nullptr : maker->second.get(),
                 peer, queue_.get(), counts_, *this);
  if (closed_) pending->Cancel();
  return true;
}

void ExternalClient::OnEnded(protocol::Completion& call) {
  // Who finds the mailbox empty wakes; until it is emptied, others need not.
  if (mailbox_.Push(&call)) WakeSoon();
}

bool ExternalClient::Deliver(protocol::TransportEvents& events) {
  int delivered = 0;
  while (delivered < kMaxDelivered) {
    PendingCall* pending = TakeEnded();
    if (pending == nullptr) break;
    protocol::ClientCall& call = pending->Finish();
    call.transport_state = nullptr;
    events.OnDone(&call);
    Remove(*pending);
    ++delivered;
  }
  protocol::StreamEvents* const streams = events.stream_events();
  const bool streamed = streams != nullptr && streams_.Deliver(*streams);
  return delivered > 0 || streamed;
}

PendingCall* ExternalClient::TakeEnded() {
  if (ended_ == nullptr) ended_ = mailbox_.TakeAll();
  if (ended_ == nullptr) return nullptr;
  return static_cast<PendingCall*>(std::exchange(ended_, ended_->next));
}

void ExternalClient::Remove(PendingCall& pending) {
  in_flight_.back()->position = pending.position;
  std::swap(in_flight_[pending.position], in_flight_.back());
  in_flight_.pop_back();
  pending.Release();
  pool_.Put(&pending);
}

void ExternalClient::Cancel(protocol::ClientCall& call) {
  // Null if it has ended already.
  auto* const pending = static_cast<PendingCall*>(call.transport_state);
  if (pending != nullptr) pending->Cancel();
}

void ExternalClient::CancelAll() {
  for (PendingCall* pending : in_flight_) pending->Cancel();
  streams_.CancelAll();
}

void ExternalClient::Close() {
  closed_ = true;
  CancelAll();
  streams_.Close();
}

int64_t ExternalClient::held_back() const {
  int64_t times = 0;
  for (const ExternalPeer& peer : peers_) times += peer.held_back();
  return times;
}

}  // namespace distbench::external
