#include "distbench/protocol/tcp/server_connection.h"

#include <cerrno>
#include <string>
#include <utility>

#include "distbench/payload/message_codec.h"

namespace distbench::protocol {
namespace {

// A reply's other fields take less than the rest of kMaxHeadBytes.
constexpr size_t kMaxErrorBytes = kMaxHeadBytes - 256;

}  // namespace

ServerConnection::ServerConnection(ConnectionContext& context, Socket accepted)
    : AcceptedConnection(std::move(accepted), context, FrameKind::kRequest,
                         context.settings.server_max_batch) {
  greeting_.emplace(Greeting::Side::kServer, context.security.test_nonce);
}

void ServerConnection::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (!is_open()) return;
  if (epoll_events & EPOLLERR) epoll_events = TakeReports(epoll_events);
  if (greeting_.has_value()) ContinueGreeting();
  if (is_open() && !greeting_.has_value()) {
    if (epoll_events & EPOLLOUT) OnWritable();
    const bool hung_up = epoll_events & (EPOLLERR | EPOLLHUP);
    if (hung_up || ((epoll_events & EPOLLIN) && reads())) {
      ReadRequests(events);
    }
    ThrottleReading();
  }
  SettleError();
}

void ServerConnection::ContinueGreeting() {
  if (!is_secured_) is_secured_ = Secure();
  if (!is_secured_) return;
  while (greeting_->missing_bytes() > 0) {
    char buffer[kClientHelloBytes];
    // Not a byte more, because requests may follow.
    const ssize_t received =
        stream().Receive(buffer, greeting_->missing_bytes());
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (received <= 0) return Break(StreamError::kClosedByPeer);
    const StreamError error =
        greeting_->Receive(absl::string_view(buffer, received));
    SendGreeting();
    if (error != StreamError::kNone) return Break(error);
  }
  greeting_.reset();
  EndHello();
}

void ServerConnection::SendGreeting() {
  std::string output = greeting_->TakeOutput();
  if (output.empty()) return;
  const iovec piece = {.iov_base = output.data(), .iov_len = output.size()};
  // A new connection has room for it, or is broken, which the next read
  // notices.
  [[maybe_unused]] const ssize_t sent = stream().Send(&piece, 1);
}

inline void ServerConnection::ReadRequests(TransportEvents& events) {
  Read([&](const FrameHeader& frame, absl::string_view head, int64_t read_ns) {
    return OnRequest(frame, head, read_ns, events);
  });
}

// Inline because there is one caller, which handles every request.
inline StreamError ServerConnection::OnRequest(const FrameHeader& frame,
                                               absl::string_view head,
                                               int64_t read_ns,
                                               TransportEvents& events) {
  const payload::RequestHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  TcpRequest* request = requests_.Get();
  static_cast<ServerCall&>(*request) = {
      .rpc_index = header->rpc_index,
      .server_instance = header->server_instance,
      .warmup = header->warmup,
      .request_bytes = frame.message_bytes,
      .response_bytes = header->response_bytes,
      .processing_ns = header->processing_ns,
      .received_ns = read_ns,
  };
  KeepTrace(*header, *request);
  request->call_id = frame.call_id;
  NotePending(*request);
  events.OnRequest(request);
  return StreamError::kNone;
}

void ServerConnection::Reply(TcpRequest& request) {
  --pending_requests_;
  if (is_open()) {
    const payload::ResponseHeader header = {
        .server_instance = request.reply_instance,
        .error_message = request.reply_error.substr(0, kMaxErrorBytes)};
    if (reports_times_) {
      SendTimedReply(request.call_id, header, request.reply_bytes,
                     request.begun_ns - request.received_ns, request.begun_ns);
    } else {
      Send(FrameKind::kReply, request.call_id, header, request.reply_bytes);
    }
    ThrottleReading();
  } else if (pending_requests_ == 0) {
    NoteClosed();
  }
  requests_.Put(&request);
}

}  // namespace distbench::protocol
