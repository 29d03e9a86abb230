#include "distbench/protocol/http2/server_connection.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/handshake_messages.h"
#include "distbench/protocol/http2/grpc_fields.h"

namespace distbench {
namespace {

// A response's other fields take less than the rest.
constexpr size_t kMaxErrorBytes = Http2Input::kMaxKeptBytes - 256;

}  // namespace

Http2ServerConnection::Http2ServerConnection(Http2Context& context,
                                             FileDescriptor socket,
                                             int64_t hello_due_ns,
                                             ObjectPool<Request>& requests,
                                             Listener& listener)
    : Http2Connection(context),
      reports_times_(context.settings.measures_time_parts),
      hello_due_ns_(hello_due_ns),
      requests_(requests),
      listener_(listener) {
  Stream stream(std::move(socket));
  stream.Secure(context.security, TlsContext::Side::kServer);
  Open(std::move(stream), /*watched=*/false);
}

void Http2ServerConnection::OnReady(uint32_t epoll_events,
                                    TransportEvents& events) {
  if (!is_open()) return;
  if (!is_secured_) is_secured_ = Secure();
  if (is_secured_) {
    if (epoll_events & EPOLLOUT) OnWritable();
    if (epoll_events & ~uint32_t{EPOLLOUT}) Read(events);
    NoticeHello();
  }
  SettleError();
}

// Returns whether TLS is ready, or is not used. Then the session begins.
bool Http2ServerConnection::Secure() {
  switch (stream().Handshake()) {
    case TlsSession::State::kReady:
      break;
    case TlsSession::State::kFailed:
      BreakWithStreamError(StreamError::kTlsFailed);
      return false;
    // A new connection has enough room for the output of a handshake.
    case TlsSession::State::kWantsRead:
    case TlsSession::State::kWantsWrite:
      return false;
  }
  auto begun = std::make_unique<Http2Session>(Http2Session::Side::kServer,
                                              context().settings.server);
  Http2Session::Handler& handler = *this;
  begun->set_handler(handler);
  Begin(std::move(begun));
  return true;
}

void Http2ServerConnection::NoticeHello() {
  if (!awaits_hello_ || !session()->has_peer_settings()) return;
  awaits_hello_ = false;
  listener_.OnHelloOver(*this);
}

Http2Exchange& Http2ServerConnection::OnOpened() {
  Request& request = *requests_.Get();
  request.Clear();
  request.connection = this;
  request.is_pending = false;
  request.position = open_.size();
  open_.push_back(&request);
  return request;
}

void Http2ServerConnection::OnReceived(Http2Exchange& received) {
  auto& request = static_cast<Request&>(received);
  if (request.path == kGenericRpcMethod) {
    Deliver(request);
  } else if (request.path == kHandshakeMethod) {
    AnswerHandshake(request);
  } else {
    Refuse(request, kGrpcUnimplemented, "there is no such method");
  }
}

void Http2ServerConnection::Deliver(Request& request) {
  RequestHeader header;
  if (!request.input.is_complete() || !request.input.Decode(header)) {
    return Refuse(request, kGrpcInternal, "malformed message");
  }
  static_cast<ServerCall&>(request) = {
      .rpc_index = header.rpc_index,
      .server_instance = header.server_instance,
      .warmup = header.warmup,
      .request_bytes = request.input.size_bytes(),
      .response_bytes = header.response_bytes,
      .processing_ns = header.processing_ns,
      .received_ns = read_ns(),
      .trace_context = header.trace_context,
  };
  request.is_pending = true;
  ++pending_requests_;
  if (reports_times_) request.begun_ns = RealClock().MonotonicNs();
  events()->OnRequest(&request);
}

void Http2ServerConnection::AnswerHandshake(Request& request) {
  const absl::StatusOr<std::string> answer = distbench::AnswerHandshake(
      context().security.test_nonce, request.input.kept());
  if (!request.input.is_complete() || !answer.ok()) {
    return Refuse(request, kGrpcInvalidArgument, "malformed handshake");
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
    ResponseHeader header = {
        .server_instance = request.reply_instance,
        .error_message = request.reply_error.substr(0, kMaxErrorBytes)};
    if (reports_times_) {
      header.queue_ns = request.begun_ns - request.received_ns;
      header.handler_ns = RealClock().MonotonicNs() - request.begun_ns;
    }
    request.output.Fill(header, request.reply_bytes);
    session()->SendResponse(request);
    MarkDirty();
    return;
  }
  requests_.Put(&request);
  if (!is_open() && pending_requests_ == 0) listener_.OnClosed(*this);
}

void Http2ServerConnection::OnClosed(Http2Exchange& closed,
                                     absl::string_view /*reason*/) {
  auto& request = static_cast<Request&>(closed);
  if (request.is_pending) ++context().http2_counters.reset_streams;
  CloseStream(request);
}

// Returns the request to the pool unless it will be replied to.
void Http2ServerConnection::CloseStream(Request& request) {
  request.stream_id = 0;
  open_[request.position] = open_.back();
  open_[request.position]->position = request.position;
  open_.pop_back();
  if (!request.is_pending) requests_.Put(&request);
}

void Http2ServerConnection::Finish() {
  if (!is_open()) return;
  Flush();
  if (!is_open()) return;
  Close();
  OnLost("");
}

void Http2ServerConnection::OnLost(const std::string& /*reason*/) {
  while (!open_.empty()) CloseStream(*open_.back());
  if (std::exchange(awaits_hello_, false)) listener_.OnHelloOver(*this);
  listener_.OnClosed(*this);
}

}  // namespace distbench
