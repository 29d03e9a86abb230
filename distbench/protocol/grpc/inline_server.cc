#include "distbench/protocol/grpc/inline_server.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/message_buffer.h"
#include "glog/logging.h"

namespace distbench {
namespace {

// Requests that gRPC can hand over without waiting for us to ask again.
constexpr int kAcceptedAhead = 128;

}  // namespace

// A request, from when it is asked for until its reply is on the way: what the
// engine sees of it, and all that gRPC needs for it.
class InlineServer::Request final : public ServerCall, public Completion {
 public:
  Request();
  ~Request();

  void Accept(InlineServer& server);

  // Fills in the ServerCall. False if the request is malformed.
  bool ReadHeader();
  void Reply();
  void Refuse();
  void Release();

  void OnComplete(bool ok, TransportEvents& events) override;

 private:
  static constexpr int kReplyOperations = 4;
  enum class State { kAccepting, kArrived, kReplying };

  void StartReply(const grpc_op* operations, int count);

  InlineServer* server_ = nullptr;
  State state_ = State::kAccepting;
  grpc_call* grpc_call_ = nullptr;
  IncomingMessage request_;
  OutgoingMessage reply_;
  grpc_metadata_array metadata_;
  gpr_timespec deadline_;
  int cancelled_ = 0;
  grpc_op reply_operations_[kReplyOperations] = {};
};

InlineServer::Request::Request() {
  grpc_metadata_array_init(&metadata_);
  reply_operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  reply_operations_[1].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  reply_operations_[2].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  reply_operations_[2].data.recv_close_on_server.cancelled = &cancelled_;
  reply_operations_[3].op = GRPC_OP_SEND_MESSAGE;
  reply_operations_[3].data.send_message.send_message = reply_.get();
}

InlineServer::Request::~Request() {
  // One that the engine has never replied to.
  if (grpc_call_ != nullptr) Release();
  grpc_metadata_array_destroy(&metadata_);
}

void InlineServer::Request::Accept(InlineServer& server) {
  server_ = &server;
  state_ = State::kAccepting;
  grpc_completion_queue* queue = server.queue_.get();
  CHECK_EQ(
      grpc_server_request_registered_call(
          server.server_, server.method_, &grpc_call_, &deadline_, &metadata_,
          request_.slot(), queue, queue, static_cast<Completion*>(this)),
      GRPC_CALL_OK);
}

void InlineServer::Request::OnComplete(bool ok, TransportEvents& events) {
  if (state_ == State::kAccepting) {
    state_ = State::kArrived;
    server_->OnArrival(*this, ok, events);
  } else {
    server_->OnReplied(*this);
  }
}

bool InlineServer::Request::ReadHeader() {
  static_cast<ServerCall&>(*this) = {};
  received_ns = RealClock().MonotonicNs();
  request_bytes = request_.size_bytes();
  RequestHeader header;
  if (!request_.Decode(header)) return false;
  rpc_index = header.rpc_index;
  server_instance = header.server_instance;
  warmup = header.warmup;
  response_bytes = header.response_bytes;
  processing_ns = header.processing_ns;
  trace_context = header.trace_context;
  // A handler may take its time: the payload need not stay for it.
  if (trace_context.empty()) request_.Clear();
  return true;
}

void InlineServer::Request::Reply() {
  reply_.Fill(ResponseHeader{.server_instance = reply_instance,
                             .error_message = reply_error},
              reply_bytes);
  grpc_op& status = reply_operations_[1];
  status.data.send_status_from_server.status = GRPC_STATUS_OK;
  status.data.send_status_from_server.status_details = nullptr;
  StartReply(reply_operations_, kReplyOperations);
}

void InlineServer::Request::Refuse() {
  grpc_slice message = grpc_slice_from_static_string("malformed request");
  grpc_op& status = reply_operations_[1];
  status.data.send_status_from_server.status = GRPC_STATUS_INVALID_ARGUMENT;
  status.data.send_status_from_server.status_details = &message;
  // All but the message, which is the last.
  StartReply(reply_operations_, kReplyOperations - 1);
}

void InlineServer::Request::StartReply(const grpc_op* operations, int count) {
  state_ = State::kReplying;
  request_.Clear();
  CHECK_EQ(grpc_call_start_batch(grpc_call_, operations, count,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void InlineServer::Request::Release() {
  request_.Clear();
  metadata_.count = 0;
  grpc_call_unref(grpc_call_);
  grpc_call_ = nullptr;
}

InlineServer::InlineServer(EventQueue& queue) : queue_(queue) {}

InlineServer::~InlineServer() { CHECK(drained()); }

void InlineServer::Serve(grpc_server* server, void* method) {
  server_ = server;
  method_ = method;
  unknown_method_.Serve(server, queue_);
  for (int i = 0; i < kAcceptedAhead; ++i) Accept();
}

void InlineServer::Accept() {
  if (closed_) return;
  ++operations_;
  pool_.Get()->Accept(*this);
}

void InlineServer::OnArrival(Request& request, bool ok,
                             TransportEvents& events) {
  --operations_;
  if (!ok) {  // the server is being shut down
    pool_.Put(&request);
    return;
  }
  Accept();
  if (request.ReadHeader()) {
    events.OnRequest(&request);
  } else {
    ++operations_;
    request.Refuse();
  }
}

void InlineServer::Reply(ServerCall* call) {
  ++operations_;
  static_cast<Request*>(call)->Reply();
}

void InlineServer::OnReplied(Request& request) {
  --operations_;
  request.Release();
  pool_.Put(&request);
}

void InlineServer::Close() {
  closed_ = true;
  unknown_method_.Close();
}

}  // namespace distbench
