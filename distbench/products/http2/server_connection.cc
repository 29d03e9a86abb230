// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/server_connection.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/message.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::http2 {
namespace {

// A response's other fields take less than the rest.
constexpr size_t kMaxErrorBytes = Http2Input::kMaxKeptBytes - 256;

// A path that was cut is none of ours.
static_assert(absl::string_view(kGenericRpcMethod).size() < kMaxPathBytes);
static_assert(absl::string_view(protocol::kHandshakeMethod).size() <
              kMaxPathBytes);

}  // namespace

void Http2ServerConnection::OnReady(uint32_t epoll_events,
                                    protocol::TransportEvents& events) {
  if (!is_open()) return;
  if (session() == nullptr && Secure()) BeginSession();
  if (session() != nullptr) {
    Exchange(epoll_events, [&] { Read(events); });
    if (arriving_ > 0 && check_ns_ == protocol::kNoDeadline) {
      CheckLater(read_ns());
    }
  }
  SettleError();
}

void Http2ServerConnection::BeginSession() {
  auto begun = std::make_unique<Http2Session>(Http2Session::Side::kServer,
                                              context().settings.server);
  Http2Session::Handler& handler = *this;
  begun->set_handler(handler);
  StartSession(std::move(begun));
}

Http2Exchange& Http2ServerConnection::OnOpened() {
  Request& request = *requests_.Get();
  request.is_received = false;
  request.is_pending = false;
  request.checked_bytes = -1;
  ++arriving_;
  request.position = open_.size();
  open_.push_back(&request);
  return request;
}

void Http2ServerConnection::OnUnkept() {
  ++context().http2_counters.unkept_requests;
}

void Http2ServerConnection::OnReceived(Http2Exchange& received) {
  auto& request = static_cast<Request&>(received);
  request.is_received = true;
  --arriving_;
  NoteRequest(read_ns());
  if (request.path == kGenericRpcMethod) {
    Deliver(request);
  } else if (request.path == protocol::kHandshakeMethod) {
    AnswerHandshake(request);
  } else {
    Refuse(request, kGrpcUnimplemented, "there is no such method");
  }
}

void Http2ServerConnection::Deliver(Request& request) {
  payload::RequestHeader header;
  if (!request.input.is_complete() || !request.input.Decode(header)) {
    return Refuse(request, kGrpcInternal, "malformed message");
  }
  // A trace context that comes in pieces is kept twice.
  if (!session()->CountKept(request)) return;
  FillRequest(header, request.input.size_bytes(), read_ns(), request);
  request.is_pending = true;
  events()->OnRequest(&request);
}

void Http2ServerConnection::AnswerHandshake(Request& request) {
  const absl::StatusOr<std::string> answer =
      distbench::protocol::AnswerHandshake(context().security.test_nonce,
                                           request.input.kept());
  if (!request.input.is_complete() || !answer.ok()) {
    return Refuse(request, kGrpcInvalidArgument, "malformed handshake");
  }
  if (protocol::KnowsNonce(context().security.test_nonce,
                           request.input.kept())) {
    NoteProven();
  }
  request.output.FillWith(*answer);
  session()->SendResponse(request);
}

void Http2ServerConnection::Refuse(Request& request, int grpc_status,
                                   absl::string_view message) {
  ++context().http2_counters.refused_requests;
  session()->SendStatus(request, grpc_status, message);
}

void Http2ServerConnection::Reply(Request& request) {
  request.is_pending = false;
  --pending_requests_;
  if (request.stream_id != 0) {
    request.output.Fill(ReplyHeader(request, kMaxErrorBytes),
                        request.reply_bytes);
    session()->SendResponse(request);
    MarkDirty();
    return;
  }
  Recycle(request);
  if (!is_open() && pending_requests_ == 0) NoteClosed();
}

void Http2ServerConnection::OnClosed(Http2Exchange& closed,
                                     absl::string_view /*reason*/) {
  auto& request = static_cast<Request&>(closed);
  if (request.is_pending) ++context().http2_counters.reset_streams;
  CloseStream(request);
}

// Recycles the request unless it will be replied to.
void Http2ServerConnection::CloseStream(Request& request) {
  request.stream_id = 0;
  if (!request.is_received) --arriving_;
  open_[request.position] = open_.back();
  open_[request.position]->position = request.position;
  open_.pop_back();
  if (!request.is_pending) Recycle(request);
}

// What a stranger has sent must not stay in the pool, where nothing counts it.
void Http2ServerConnection::Recycle(Request& request) {
  if (session() != nullptr) session()->Release(request);
  request.Clear();
  requests_.Put(&request);
}

void Http2ServerConnection::Work(int64_t now_ns) {
  if (now_ns >= hello_due_ns()) AcceptedConnection::Work(now_ns);
  if (now_ns < check_ns_ || session() == nullptr) return;
  // Closing a stream puts the last one in its place.
  for (size_t i = open_.size(); i-- > 0;) {
    Request& request = *open_[i];
    if (request.is_received) continue;
    const int64_t received = request.input.received_bytes();
    if (std::exchange(request.checked_bytes, received) != received) continue;
    ++context().http2_counters.overdue_requests;
    session()->Reset(request);
    CloseStream(request);
    MarkDirty();
  }
  CheckLater(now_ns);
}

// Checks the requests that arrive, if there are any, when they have had time.
void Http2ServerConnection::CheckLater(int64_t now_ns) {
  check_ns_ = arriving_ > 0 ? now_ns + context().settings.request_timeout_ns
                            : protocol::kNoDeadline;
  NoteDue();
}

void Http2ServerConnection::OnLost(const std::string& reason) {
  while (!open_.empty()) CloseStream(*open_.back());
  check_ns_ = protocol::kNoDeadline;
  NoteDue();
  AcceptedConnection::OnLost(reason);
}

}  // namespace distbench::http2
