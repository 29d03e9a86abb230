// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/streaming_requests.h"

#include <grpc/slice.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "distbench/protocol/streams.h"

namespace distbench::protocol {
namespace {

// Calls that gRPC can accept before we ask for more.
constexpr int kStreamedCallsAhead = 16;

}  // namespace

class StreamingRequests::Request final : public ServerCall,
                                         public ServerStreamSide {
 public:
  explicit Request(StreamingRequests& owner)
      : ServerStreamSide(owner), owner_(owner) {}
  ~Request() override { grpc_slice_unref(trailer_.value); }

  int64_t Write(int64_t bytes);
  void Finish(int64_t last_message_bytes, int64_t blocked_ns);

 private:
  // StreamSide.
  void OnOperationOver(TransportEvents& /*events*/) override { Settle(); }

  // ServerStreamSide.
  void OnAccepted() override { Receive(incoming_, receive_); }
  void OnEnded(TransportEvents& events) override;
  bool is_lent() const override { return lent_; }

  void OnReceived(bool ok, TransportEvents& events);
  void OnNoMessage(TransportEvents& events);
  void Deliver(StreamEvents& events);
  bool Lend(const payload::RequestHeader& header, StreamEvents& events);
  void OnWritten(bool ok, TransportEvents& events);
  void OnStatusSent(bool /*ok*/, TransportEvents& /*events*/) {}
  void Fail(grpc_status_code status, const std::string& message);
  size_t AddMessage(const payload::ResponseHeader& header, int64_t bytes,
                    grpc_op* out);

  StreamingRequests& owner_;
  IncomingMessage incoming_;
  OutgoingMessage outgoing_;
  int64_t outgoing_bytes_ = 0;
  std::string trace_;
  grpc_metadata trailer_ = {};
  bool metadata_sent_ = false;
  bool writing_ = false;
  bool opened_ = false;  // the first message has arrived
  bool lent_ = false;    // the engine has the call

  Operation<Request, &Request::OnReceived> receive_{*this};
  Operation<Request, &Request::OnWritten> write_{*this};
  Operation<Request, &Request::OnStatusSent> status_{*this};
};

void StreamingRequests::Request::OnEnded(TransportEvents& events) {
  if (lent_ && events.stream_events() != nullptr) {
    events.stream_events()->OnBroken(*this, base::NowNs());
  }
}

void StreamingRequests::Request::OnReceived(bool, TransportEvents& events) {
  if (incoming_.is_empty()) return OnNoMessage(events);
  if (!ended() && (lent_ || !opened_)) {
    if (owner_.is_closed() || events.stream_events() == nullptr) {
      Fail(GRPC_STATUS_UNAVAILABLE, "the instance has shut down");
    } else {
      Deliver(*events.stream_events());
    }
  }
  incoming_.Clear();
  Receive(incoming_, receive_);
}

// The client has sent all, or has given up, which OnEnded() tells.
void StreamingRequests::Request::OnNoMessage(TransportEvents& events) {
  if (ended() || grpc_call_failed_before_recv_message(call_) != 0) return;
  if (lent_) {
    events.stream_events()->OnRequestsOver(*this, base::NowNs());
  } else if (!opened_) {
    Fail(GRPC_STATUS_INVALID_ARGUMENT, "there is no request");
  }
}

void StreamingRequests::Request::Deliver(StreamEvents& events) {
  payload::RequestHeader header;
  if (!incoming_.Decode(header)) {
    // If the engine has the call, it will learn that by OnEnded().
    Fail(GRPC_STATUS_INVALID_ARGUMENT, "malformed request");
    return;
  }
  if (opened_ || Lend(header, events)) {
    events.OnMessage(*this, incoming_.size_bytes(), base::NowNs());
  }
}

// Returns false if the engine finishes the call at once.
bool StreamingRequests::Request::Lend(const payload::RequestHeader& header,
                                      StreamEvents& events) {
  opened_ = lent_ = true;
  TakeHeader(header, *this);
  trace_ = std::string(header.trace_context);
  trace_context = trace_;
  received_ns = base::NowNs();
  events.OnOpened(this);
  return lent_;
}

// Adds a message to a batch, with initial metadata before the first. Returns
// the number of operations.
size_t StreamingRequests::Request::AddMessage(
    const payload::ResponseHeader& header, int64_t bytes, grpc_op* out) {
  outgoing_bytes_ = outgoing_.Fill(header, bytes);
  out[0].op = GRPC_OP_SEND_MESSAGE;
  out[0].data.send_message.send_message = outgoing_.get();
  if (std::exchange(metadata_sent_, true)) return 1;
  out[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  return 2;
}

int64_t StreamingRequests::Request::Write(int64_t bytes) {
  writing_ = true;
  grpc_op operations[2] = {};
  const size_t count =
      AddMessage({.server_instance = reply_instance}, bytes, operations);
  Start({operations, count}, write_);
  return outgoing_bytes_;
}

// A write that fails is followed by the end.
void StreamingRequests::Request::OnWritten(bool ok, TransportEvents& events) {
  writing_ = false;
  if (!ok || ended() || !lent_) return;
  events.stream_events()->OnWritten(*this, base::NowNs());
}

void StreamingRequests::Request::Finish(int64_t last_message_bytes,
                                        int64_t blocked_ns) {
  lent_ = false;
  if (ended()) return Settle();
  if (writing_) {
    return Fail(GRPC_STATUS_CANCELLED, std::string(reply_error));
  }
  grpc_op operations[3] = {};
  size_t count = 1;
  trailer_.key = grpc_slice_from_static_string(kBlockedKey);
  trailer_.value =
      grpc_slice_from_copied_string(absl::StrCat(blocked_ns).c_str());
  operations[0].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  auto& status = operations[0].data.send_status_from_server;
  status.status = GRPC_STATUS_OK;
  status.trailing_metadata_count = 1;
  status.trailing_metadata = &trailer_;
  if (!reply_error.empty() || last_message_bytes != kNoMessage) {
    count += AddMessage(
        {.server_instance = reply_instance, .error_message = reply_error},
        last_message_bytes, operations + count);
  }
  Start({operations, count}, status_);
}

// Ends the call, whatever is being sent.
void StreamingRequests::Request::Fail(grpc_status_code status,
                                      const std::string& message) {
  opened_ = true;
  grpc_call_cancel_with_status(call_, status, message.c_str(), nullptr);
}

StreamingRequests::StreamingRequests(EventQueue& queue)
    : ServerStreams(queue, kStreamedCallsAhead) {}

std::unique_ptr<ServerStreamSide> StreamingRequests::MakeSide() {
  return std::make_unique<Request>(*this);
}

int64_t StreamingRequests::Write(ServerCall& call, int64_t bytes) {
  return static_cast<Request&>(call).Write(bytes);
}

void StreamingRequests::Finish(ServerCall& call, int64_t last_message_bytes,
                               int64_t blocked_ns) {
  static_cast<Request&>(call).Finish(last_message_bytes, blocked_ns);
}

}  // namespace distbench::protocol
