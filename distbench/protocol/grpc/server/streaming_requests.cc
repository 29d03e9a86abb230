#include "distbench/protocol/grpc/server/streaming_requests.h"

#include <grpc/slice.h>

#include <cstddef>
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
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// Calls that gRPC can accept before we ask for more.
constexpr int kStreamedCallsAhead = 16;

}  // namespace

// A call from the time it is asked for until it has ended and the engine has
// finished it.
class StreamingRequests::Request final : public ServerCall,
                                         public ServerStreamSide {
 public:
  explicit Request(StreamingRequests& owner) : owner_(owner) {}
  ~Request() { grpc_slice_unref(trailer_.value); }

  void Accept();
  int64_t Write(int64_t bytes);
  void Finish(int64_t last_message_bytes, int64_t blocked_ns);

  size_t position = 0;  // among all requests

 private:
  // StreamSide.
  void OnOperationOver(TransportEvents& /*events*/) override { Settle(); }

  void OnAccepted(bool ok, TransportEvents& events);
  void OnEnd(bool ok, TransportEvents& events);
  void OnReceived(bool ok, TransportEvents& events);
  void OnNoMessage(TransportEvents& events);
  void Deliver(StreamEvents& events);
  bool Lend(const payload::RequestHeader& header, StreamEvents& events);
  void OnWritten(bool ok, TransportEvents& events);
  void OnStatusSent(bool /*ok*/, TransportEvents& /*events*/) {}
  void Fail(grpc_status_code status, const std::string& message);
  size_t AddMessage(const payload::ResponseHeader& header, int64_t bytes,
                    grpc_op* out);
  void Settle();

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
  bool ended_ = false;   // nothing can be sent any more
  bool settled_ = false;

  Operation<Request, &Request::OnAccepted> accept_{*this};
  Operation<Request, &Request::OnReceived> receive_{*this};
  Operation<Request, &Request::OnWritten> write_{*this};
  Operation<Request, &Request::OnStatusSent> status_{*this};
  Operation<Request, &Request::OnEnd> end_{*this};
};

void StreamingRequests::Request::Accept() {
  Ask(owner_.server_, owner_.method_, owner_.queue_, accept_);
}

void StreamingRequests::Request::OnAccepted(bool ok, TransportEvents&) {
  if (!ok) {  // the server is being shut down
    ended_ = true;
    return;
  }
  owner_.Accept();
  AwaitEnd(end_);
  Receive(incoming_, receive_);
}

void StreamingRequests::Request::OnEnd(bool, TransportEvents& events) {
  ended_ = true;
  if (lent_ && events.stream_events() != nullptr) {
    events.stream_events()->OnBroken(*this, base::NowNs());
  }
}

void StreamingRequests::Request::OnReceived(bool, TransportEvents& events) {
  if (incoming_.is_empty()) return OnNoMessage(events);
  if (!ended_ && (lent_ || !opened_)) {
    if (owner_.closed_ || events.stream_events() == nullptr) {
      Fail(GRPC_STATUS_UNAVAILABLE, "the instance has shut down");
    } else {
      Deliver(*events.stream_events());
    }
  }
  incoming_.Clear();
  Receive(incoming_, receive_);
}

// The client has sent all, or has given up, which OnEnd() tells.
void StreamingRequests::Request::OnNoMessage(TransportEvents& events) {
  if (ended_ || grpc_call_failed_before_recv_message(call_) != 0) return;
  if (lent_) {
    events.stream_events()->OnRequestsOver(*this, base::NowNs());
  } else if (!opened_) {
    Fail(GRPC_STATUS_INVALID_ARGUMENT, "there is no request");
  }
}

void StreamingRequests::Request::Deliver(StreamEvents& events) {
  payload::RequestHeader header;
  if (!incoming_.Decode(header)) {
    // If the engine has the call, it will learn that by OnEnd().
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
  if (!ok || ended_ || !lent_) return;
  events.stream_events()->OnWritten(*this, base::NowNs());
}

void StreamingRequests::Request::Finish(int64_t last_message_bytes,
                                        int64_t blocked_ns) {
  lent_ = false;
  if (ended_) return Settle();
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

void StreamingRequests::Request::Settle() {
  if (!ended_ || operations_ > 0) return;
  if (!std::exchange(settled_, true)) --owner_.active_;
  if (!lent_) owner_.Bury(*this);
}

StreamingRequests::StreamingRequests(EventQueue& queue) : queue_(queue) {}

StreamingRequests::~StreamingRequests() { CHECK(drained()); }

void StreamingRequests::Serve(grpc_server* server, void* method) {
  server_ = server;
  method_ = method;
  for (int i = 0; i < kStreamedCallsAhead; ++i) Accept();
}

void StreamingRequests::Accept() {
  dead_.clear();
  if (closed_) return;
  ++active_;
  auto request = std::make_unique<Request>(*this);
  request->position = requests_.size();
  requests_.push_back(std::move(request));
  requests_.back()->Accept();
}

int64_t StreamingRequests::Write(ServerCall& call, int64_t bytes) {
  return static_cast<Request&>(call).Write(bytes);
}

void StreamingRequests::Finish(ServerCall& call, int64_t last_message_bytes,
                               int64_t blocked_ns) {
  static_cast<Request&>(call).Finish(last_message_bytes, blocked_ns);
}

void StreamingRequests::Bury(Request& request) {
  requests_.back()->position = request.position;
  std::swap(requests_[request.position], requests_.back());
  dead_.push_back(std::move(requests_.back()));
  requests_.pop_back();
}

}  // namespace distbench::protocol
