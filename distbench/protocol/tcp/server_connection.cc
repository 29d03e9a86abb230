#include "distbench/protocol/tcp/server_connection.h"

#include <cerrno>
#include <utility>

#include "distbench/payload/message_codec.h"

namespace distbench {
namespace {

// A reply's other fields take less than the rest of kMaxHeadBytes.
constexpr size_t kMaxErrorBytes = kMaxHeadBytes - 256;

}  // namespace

ServerConnection::ServerConnection(ConnectionContext& context,
                                   FileDescriptor socket, int64_t hello_due_ns,
                                   ObjectPool<TcpRequest>& requests,
                                   Listener& listener)
    : Connection(context, FrameKind::kRequest,
                 context.settings.server_max_batch),
      max_queued_bytes_(context.settings.send_queue_bytes),
      hello_due_ns_(hello_due_ns),
      requests_(requests),
      listener_(listener) {
  Open(std::move(socket), /*watched=*/false);
}

void ServerConnection::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (!is_open()) return;
  if (!hello_over_) {
    ReadHello();
  } else {
    if (epoll_events & EPOLLOUT) OnWritable();
    const bool hung_up = epoll_events & (EPOLLERR | EPOLLHUP);
    if (hung_up || ((epoll_events & EPOLLIN) && reads())) {
      Read([&](const FrameHeader& frame, absl::string_view head,
               int64_t read_ns) {
        return OnRequest(frame, head, read_ns, events);
      });
    }
    ThrottleReading();
  }
  SettleError();
}

void ServerConnection::ReadHello() {
  // Not a byte more: frames may follow.
  const ssize_t received = Receive(fd(), hello_ + hello_bytes_,
                                   kHelloBytes - hello_bytes_);
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (received <= 0) {
    Break(StreamError::kClosedByPeer);
    return;
  }
  hello_bytes_ += received;
  const StreamError error = CheckHello(absl::string_view(hello_, hello_bytes_));
  // A client of another version shall be able to say so.
  if (error == StreamError::kOtherVersion ||
      (error == StreamError::kNone && hello_bytes_ == kHelloBytes)) {
    char hello[kHelloBytes];
    EncodeHello(hello);
    // A new connection has room for it.
    [[maybe_unused]] const ssize_t sent =
        send(fd(), hello, kHelloBytes, MSG_NOSIGNAL);
  }
  if (error != StreamError::kNone) {
    Break(error);
  } else if (hello_bytes_ == kHelloBytes) {
    hello_over_ = true;
    listener_.OnHelloOver(*this);
  }
}

void ServerConnection::TimeOut() {
  Break(StreamError::kHelloTimeout);
  SettleError();
}

StreamError ServerConnection::OnRequest(const FrameHeader& frame,
                                        absl::string_view head, int64_t read_ns,
                                        TransportEvents& events) {
  RequestHeader header;
  if (!DecodeHead(head, frame.message_bytes - frame.head_bytes, header,
                  scratch_)) {
    return StreamError::kMalformedMessage;
  }
  TcpRequest* request = requests_.Get();
  static_cast<ServerCall&>(*request) = {
      .rpc_index = header.rpc_index,
      .server_instance = header.server_instance,
      .warmup = header.warmup,
      .request_bytes = frame.message_bytes,
      .response_bytes = header.response_bytes,
      .processing_ns = header.processing_ns,
      .received_ns = read_ns,
  };
  if (!header.trace_context.empty()) {
    request->trace_bytes = std::string(header.trace_context);
    request->trace_context = request->trace_bytes;
  }
  request->connection = this;
  request->call_id = frame.call_id;
  ++pending_requests_;
  events.OnRequest(request);
  return StreamError::kNone;
}

void ServerConnection::Reply(TcpRequest& request) {
  --pending_requests_;
  if (is_open()) {
    Send(FrameKind::kReply, request.call_id,
         ResponseHeader{
             .server_instance = request.reply_instance,
             .error_message = request.reply_error.substr(0, kMaxErrorBytes)},
         request.reply_bytes);
    ThrottleReading();
  } else if (pending_requests_ == 0) {
    listener_.OnClosed(*this);
  }
  requests_.Put(&request);
}

// A client that does not read its replies gets no more requests accepted.
void ServerConnection::ThrottleReading() {
  if (reads() ? queued_bytes() < max_queued_bytes_
              : queued_bytes() > max_queued_bytes_ / 2) {
    return;
  }
  set_reads(!reads());
  UpdateInterest();
}

void ServerConnection::Finish() {
  if (!is_open()) return;
  Flush();
  if (!is_open()) return;
  Close();
  OnBroken("");
}

void ServerConnection::OnBroken(const std::string& /*reason*/) {
  if (!hello_over_) listener_.OnHelloOver(*this);
  listener_.OnClosed(*this);
}

}  // namespace distbench
