#include "distbench/protocol/grpc/server/queue_server.h"

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/stream_server.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_side.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// Requests that gRPC can deliver before we ask for more.
constexpr int kRequestsAhead = 128;

}  // namespace

// A request from the time it is asked for until its reply is on the way, both
// for the engine and for gRPC.
class QueueServer::Request final : public PooledRequest {
 public:
  Request();
  ~Request();

  void Accept(QueueServer& server);

  // Fills in the ServerCall. Returns false if the request is malformed.
  bool ReadHeader();
  void EnterPool() { state_ = State::kInPool; }
  bool is_in_pool() const { return state_ == State::kInPool; }
  void Reply();
  // `message` must have static lifetime.
  void Refuse(grpc_status_code status, const char* message);
  void Release();

  void OnComplete(bool ok, TransportEvents& events) override;

  size_t position = 0;  // among the lent requests

 private:
  static constexpr int kReplyOperations = 4;
  enum class State { kAccepting, kArrived, kInPool, kReplying };

  EventQueue& queue() override { return server_->queue_; }
  void StartReply(const grpc_op* operations, int count);

  QueueServer* server_ = nullptr;
  State state_ = State::kAccepting;
  grpc_call* grpc_call_ = nullptr;
  IncomingMessage request_;
  OutgoingMessage reply_;
  grpc_metadata_array metadata_;
  gpr_timespec deadline_;
  int cancelled_ = 0;
  grpc_op reply_operations_[kReplyOperations] = {};
};

QueueServer::Request::Request() {
  grpc_metadata_array_init(&metadata_);
  reply_operations_[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  reply_operations_[1].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  reply_operations_[2].op = GRPC_OP_RECV_CLOSE_ON_SERVER;
  reply_operations_[2].data.recv_close_on_server.cancelled = &cancelled_;
  reply_operations_[3].op = GRPC_OP_SEND_MESSAGE;
  reply_operations_[3].data.send_message.send_message = reply_.get();
}

QueueServer::Request::~Request() {
  // The engine never replied to this request.
  if (grpc_call_ != nullptr) Release();
  grpc_metadata_array_destroy(&metadata_);
}

void QueueServer::Request::Accept(QueueServer& server) {
  server_ = &server;
  state_ = State::kAccepting;
  grpc_completion_queue* queue = server.queue_.get();
  CHECK_EQ(
      grpc_server_request_registered_call(
          server.server_, server.method_, &grpc_call_, &deadline_, &metadata_,
          request_.slot(), queue, queue, static_cast<Completion*>(this)),
      GRPC_CALL_OK);
}

void QueueServer::Request::OnComplete(bool ok, TransportEvents& events) {
  switch (state_) {
    case State::kAccepting:
      state_ = State::kArrived;
      server_->OnArrival(*this, ok, events);
      break;
    case State::kInPool:
      server_->OnHandedOver(*this, events);
      break;
    case State::kArrived:
    case State::kReplying:
      server_->OnReplied(*this);
      break;
  }
}

bool QueueServer::Request::ReadHeader() {
  static_cast<ServerCall&>(*this) = {};
  received_ns = arrived_ns = base::RealClock().MonotonicNs();
  return PooledRequest::ReadHeader(request_);
}

void QueueServer::Request::Reply() {
  state_ = State::kReplying;
  request_.Clear();
  reply_.Fill(ReplyHeader(/*times=*/server_->measures_time_parts_),
              reply_bytes);
  grpc_op& status = reply_operations_[1];
  status.data.send_status_from_server.status = GRPC_STATUS_OK;
  status.data.send_status_from_server.status_details = nullptr;
  StartReply(reply_operations_, kReplyOperations);
}

void QueueServer::Request::Refuse(grpc_status_code status,
                                  const char* message) {
  state_ = State::kReplying;
  request_.Clear();
  grpc_slice details = grpc_slice_from_static_string(message);
  grpc_op& operation = reply_operations_[1];
  operation.data.send_status_from_server.status = status;
  operation.data.send_status_from_server.status_details = &details;
  // All operations except the message, which is the last.
  StartReply(reply_operations_, kReplyOperations - 1);
}

void QueueServer::Request::StartReply(const grpc_op* operations, int count) {
  CHECK_EQ(grpc_call_start_batch(grpc_call_, operations, count,
                                 static_cast<Completion*>(this), nullptr),
           GRPC_CALL_OK);
}

void QueueServer::Request::Release() {
  request_.Clear();
  metadata_.count = 0;
  grpc_call_unref(grpc_call_);
  grpc_call_ = nullptr;
}

QueueServer::QueueServer(EventQueue& queue, PoolUse pool_use, std::string nonce,
                         bool measures_time_parts)
    : queue_(queue),
      pool_use_(std::move(pool_use)),
      measures_time_parts_(measures_time_parts),
      other_methods_(queue, std::move(nonce)) {}

QueueServer::~QueueServer() { CHECK(drained()); }

void QueueServer::Serve(grpc_server* server, void* method,
                        void* handshake_method) {
  server_ = server;
  method_ = method;
  other_methods_.Serve(server, handshake_method);
  for (int i = 0; i < kRequestsAhead; ++i) Accept();
}

void QueueServer::Accept() {
  if (closed_) return;
  ++operations_;
  pool_.Get()->Accept(*this);
}

void QueueServer::OnArrival(Request& request, bool ok,
                            TransportEvents& events) {
  --operations_;
  if (!ok) {  // the server is being shut down
    pool_.Put(&request);
    return;
  }
  Accept();
  if (request.ReadHeader()) {
    Handle(request, events);
  } else {
    ++operations_;
    request.Refuse(GRPC_STATUS_INVALID_ARGUMENT, "malformed request");
  }
}

void QueueServer::Handle(Request& request, TransportEvents& events) {
  if (!pool_use_.Covers(request)) {
    events.OnRequest(&request);
    return;
  }
  ++operations_;
  request.EnterPool();
  if (!pool_use_.pool->Submit(request)) {
    request.Refuse(GRPC_STATUS_RESOURCE_EXHAUSTED, kNoThreadForRequest);
  }
}

void QueueServer::OnHandedOver(Request& request, TransportEvents& events) {
  if (closed_) {
    --operations_;
    pool_use_.pool->Finish(request);
    return;
  }
  lent_.Add(request);
  request.received_ns = base::RealClock().MonotonicNs();
  events.OnRequest(&request);
}

void QueueServer::Reply(ServerCall* call) {
  Request& request = *static_cast<Request*>(call);
  if (!request.is_in_pool()) {
    ++operations_;
    request.Reply();
  } else if (!closed_) {
    lent_.Remove(request);
    request.Reply();
    pool_use_.pool->Finish(request);
  }
}

void QueueServer::OnReplied(Request& request) {
  --operations_;
  request.Release();
  pool_.Put(&request);
}

void QueueServer::Close() {
  if (closed_) return;
  closed_ = true;
  other_methods_.Close();
  for (Request* request : lent_) {
    --operations_;
    pool_use_.pool->Finish(*request);
  }
}

namespace {

// What the server sides of a listener need to know.
struct UnarySides {
  using Side = QueueServer;
  static constexpr const char* kMethod = kGenericRpcMethod;
  // The message arrives with the call: one completion for both.
  static constexpr auto kPayload = GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER;

  std::unique_ptr<Side> Make(EventQueue& queue, const std::string& nonce,
                             bool measures_time_parts) const {
    return std::make_unique<Side>(queue, pool_use, nonce, measures_time_parts);
  }

  const PoolUse pool_use;
};

struct StreamSides {
  using Side = GrpcStreamServer;
  static constexpr const char* kMethod = kGenericStreamMethod;
  static constexpr auto kPayload = GRPC_SRM_PAYLOAD_NONE;

  std::unique_ptr<Side> Make(EventQueue& queue, const std::string& nonce,
                             bool measures_time_parts) const {
    return std::make_unique<Side>(queue, nonce, measures_time_parts,
                                  max_waiting_replies, counts);
  }

  const size_t max_waiting_replies;
  StreamCounts& counts;
};

template <typename Sides>
class QueueListener final : public Listener {
 public:
  QueueListener(const ChannelArguments& arguments, Sides sides,
                ListenerSecurity security, bool measures_time_parts)
      : maker_(std::move(sides)),
        security_(std::move(security)),
        measures_time_parts_(measures_time_parts) {
    std::vector<grpc_arg> list = arguments.AsGrpc();
    const grpc_channel_args args = {.num_args = list.size(),
                                    .args = list.data()};
    server_ = grpc_server_create(&args, nullptr);
  }
  ~QueueListener() override { grpc_server_destroy(server_); }

  std::unique_ptr<ServerSide> MakeServerSide(EventQueue& queue) override {
    grpc_server_register_completion_queue(server_, queue.get(), nullptr);
    auto side = maker_.Make(queue, security_.test_nonce, measures_time_parts_);
    sides_.push_back(side.get());
    return side;
  }

  int Start(const std::string& address) override {
    const int port = AddPort(address);
    if (port == 0) return 0;
    void* method = grpc_server_register_method(server_, Sides::kMethod, nullptr,
                                               Sides::kPayload, 0);
    void* handshake = grpc_server_register_method(
        server_, kHandshakeMethod, nullptr,
        GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    // A method that is registered must be served.
    const bool streams = sides_.front()->streams() != nullptr;
    void* streaming = nullptr;
    if (streams) {
      streaming = grpc_server_register_method(
          server_, kStreamingRpcMethod, nullptr, GRPC_SRM_PAYLOAD_NONE, 0);
    }
    grpc_server_start(server_);
    for (auto* side : sides_) {
      side->Serve(server_, method, handshake);
      if (streams) side->streams()->Serve(server_, streaming);
    }
    return port;
  }

  void Shutdown(EventQueue& queue) override {
    grpc_server_shutdown_and_notify(server_, queue.get(),
                                    &stopped_completion());
    grpc_server_cancel_all_calls(server_);
  }

 private:
  int AddPort(const std::string& address) {
    const security::CoreServerCredentials credentials =
        security::MakeCoreServerCredentials(security_.tls.get());
    return grpc_server_add_http2_port(server_, address.c_str(),
                                      credentials.get());
  }

  const Sides maker_;
  const ListenerSecurity security_;
  const bool measures_time_parts_;
  grpc_server* server_;
  std::vector<typename Sides::Side*> sides_;
};

}  // namespace

std::unique_ptr<Listener> MakeQueueListener(const ChannelArguments& arguments,
                                            PoolUse pool_use,
                                            ListenerSecurity security,
                                            bool measures_time_parts) {
  return std::make_unique<QueueListener<UnarySides>>(
      arguments, UnarySides{std::move(pool_use)}, std::move(security),
      measures_time_parts);
}

std::unique_ptr<Listener> MakeStreamListener(const ChannelArguments& arguments,
                                             ListenerSecurity security,
                                             bool measures_time_parts,
                                             size_t max_waiting_replies,
                                             StreamCounts& counts) {
  return std::make_unique<QueueListener<StreamSides>>(
      arguments, StreamSides{max_waiting_replies, counts}, std::move(security),
      measures_time_parts);
}

}  // namespace distbench::protocol
