// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/stream_server.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {
namespace {

// Streams that gRPC can deliver before we ask for more.
constexpr int kStreamsAhead = 16;

}  // namespace

struct GrpcStreamServer::Request final : ServerCall {
  IncomingMessage message;
  uint64_t sequence = 0;
  Stream* stream = nullptr;
};

class GrpcStreamServer::Stream final : public ServerStreamSide,
                                       private MessageSender::Owner {
 public:
  explicit Stream(GrpcStreamServer& server)
      : ServerStreamSide(server),
        server_(server),
        sender_(*this, server.counts_) {}

  void Reply(Request& request);

 private:
  // StreamSide.
  void OnOperationOver(TransportEvents& /*events*/) override { Proceed(); }

  // MessageSender::Owner.
  bool OnSend(uint64_t sequence) override;
  void OnAllSent() override { Proceed(); }

  // ServerStreamSide.
  void OnAccepted() override;
  void OnEnded(TransportEvents& /*events*/) override { sender_.Drop(); }
  bool is_lent() const override { return unanswered_ > 0; }

  void ReceiveNext();
  void OnReceived(bool ok, TransportEvents& events);
  bool ReadHeader(Request& request);
  void Refuse();
  void SendStatus();
  void OnStatusSent(bool /*ok*/, TransportEvents& /*events*/) {}
  void Proceed();

  GrpcStreamServer& server_;
  MessageSender sender_;
  Request* receiving_ = nullptr;
  int unanswered_ = 0;       // requests that the engine has
  bool input_over_ = false;  // no more requests will come
  bool paused_ = false;      // no requests are taken for now
  bool status_sent_ = false;

  Operation<Stream, &Stream::OnReceived> receive_{*this};
  Operation<Stream, &Stream::OnStatusSent> status_{*this};
};

void GrpcStreamServer::Stream::OnAccepted() {
  sender_.Open(call_);
  ReceiveNext();
}

void GrpcStreamServer::Stream::ReceiveNext() {
  receiving_ = server_.requests_.Get();
  Receive(receiving_->message, receive_);
}

void GrpcStreamServer::Stream::OnReceived(bool, TransportEvents& events) {
  Request& request = *std::exchange(receiving_, nullptr);
  input_over_ = request.message.is_empty() || server_.is_closed();
  if (!input_over_ && !ReadHeader(request)) Refuse();
  if (input_over_) {
    request.message.Clear();
    server_.requests_.Put(&request);
    return;
  }
  ++unanswered_;
  events.OnRequest(&request);
  paused_ = sender_.waiting() >= server_.max_waiting_replies_;
  if (!paused_) ReceiveNext();
}

// A client that reads its replies again may send more requests.
bool GrpcStreamServer::Stream::OnSend(uint64_t /*sequence*/) {
  if (paused_ && sender_.waiting() <= server_.max_waiting_replies_ / 2) {
    paused_ = false;
    ReceiveNext();
  }
  return true;
}

// Ends the stream after a malformed request.
void GrpcStreamServer::Stream::Refuse() {
  input_over_ = true;
  status_sent_ = true;
  grpc_call_cancel_with_status(call_, GRPC_STATUS_INVALID_ARGUMENT,
                               "malformed request", nullptr);
}

// Fills in the ServerCall. Returns false if the request is malformed.
bool GrpcStreamServer::Stream::ReadHeader(Request& request) {
  static_cast<ServerCall&>(request) = {};
  request.received_ns = base::RealClock().MonotonicNs();
  request.stream = this;
  payload::RequestHeader header;
  if (!request.message.Decode(header, request.sequence,
                              request.request_bytes)) {
    return false;
  }
  TakeHeader(header, request);
  // A handler may take its time: the payload need not stay for it.
  if (request.trace_context.empty()) request.message.Clear();
  return true;
}

void GrpcStreamServer::Stream::Reply(Request& request) {
  --unanswered_;
  request.message.Clear();
  if (!ended()) {
    payload::ResponseHeader header = {.server_instance = request.reply_instance,
                                      .error_message = request.reply_error};
    if (server_.measures_time_parts_) {
      header.queue_ns = request.begun_ns - request.received_ns;
      header.handler_ns = base::RealClock().MonotonicNs() - request.begun_ns;
    }
    sender_.Send(request.sequence, header, request.reply_bytes);
  }
  server_.requests_.Put(&request);
  Proceed();
}

void GrpcStreamServer::Stream::SendStatus() {
  status_sent_ = true;
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
  operations[0].data.send_status_from_server.status = GRPC_STATUS_OK;
  operations[1].op = GRPC_OP_SEND_INITIAL_METADATA;
  Start({operations, sender_.metadata_sent() ? 1u : 2u}, status_);
}

// Ends the stream when everything is answered, and itself when it has ended.
void GrpcStreamServer::Stream::Proceed() {
  if (sender_.is_sending()) return;
  if (ended()) return Settle();
  if (input_over_ && unanswered_ == 0 && !status_sent_) SendStatus();
}

GrpcStreamServer::GrpcStreamServer(EventQueue& queue, const CallSource& source,
                                   bool measures_time_parts,
                                   size_t max_waiting_replies,
                                   StreamCounts& counts)
    : ServerStreams(queue, kStreamsAhead),
      source_(source),
      measures_time_parts_(measures_time_parts),
      max_waiting_replies_(max_waiting_replies),
      counts_(counts),
      streaming_(queue) {}

GrpcStreamServer::~GrpcStreamServer() = default;

void GrpcStreamServer::Serve(grpc_server* server,
                             const ServedMethods& methods) {
  ServerStreams::Serve(server, methods.requests);
  streaming_.Serve(server, methods.streaming);
}

std::unique_ptr<ServerStreamSide> GrpcStreamServer::MakeSide() {
  return std::make_unique<Stream>(*this);
}

void GrpcStreamServer::Reply(ServerCall* call) {
  Request& request = *static_cast<Request*>(call);
  request.stream->Reply(request);
}

void GrpcStreamServer::Close() {
  ServerStreams::Close();
  streaming_.Close();
}

}  // namespace distbench::protocol
