// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/testing/fuzz_entry.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <string>

#include "distbench/base/files.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/message.h"
#include "distbench/products/http2/session.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::http2 {
namespace {

constexpr Http2Limits kLimits = {.stream_window_bytes = 1 << 16,
                                 .connection_window_bytes = 1 << 16,
                                 .max_concurrent_streams = 8,
                                 .kept_request_bytes = 1 << 20};

void Require(bool condition) {
  if (!condition) std::abort();
}

// Takes the next piece. It has its own memory, so that sanitizers notice reads
// beyond it.
std::string TakePiece(absl::string_view& bytes, size_t piece_bytes) {
  std::string piece(bytes.substr(0, piece_bytes));
  bytes.remove_prefix(piece.size());
  return piece;
}

Http2Outcome ReceiveMessage(absl::string_view bytes, size_t piece_bytes) {
  Http2Input input;
  Http2Outcome outcome;
  while (!bytes.empty()) {
    outcome.is_valid = input.Receive(TakePiece(bytes, piece_bytes));
  }
  payload::RequestHeader header;
  outcome.exchanges = input.is_complete();
  outcome.messages = input.is_complete() && input.Decode(header);
  return outcome;
}

// One side of a connection, whose output goes nowhere.
class Side final : private Http2Session::Handler {
 public:
  explicit Side(Http2Session::Side side)
      : is_server_(side == Http2Session::Side::kServer),
        session_(side, kLimits, "authority") {
    session_.set_handler(*this);
    int ends[2];
    Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    stream_ = protocol::Stream(base::FileDescriptor(ends[0]));
    peer_ = base::FileDescriptor(ends[1]);
    if (!is_server_) SendRequests();
    Write();
  }

  Http2Outcome Receive(absl::string_view bytes, size_t piece_bytes) {
    while (!bytes.empty() && outcome_.is_valid && !session_.is_over()) {
      outcome_.is_valid = session_.Receive(TakePiece(bytes, piece_bytes));
      Write();
    }
    return outcome_;
  }

 private:
  void SendRequests() {
    Require(session_.SendRequest(exchanges_.emplace_back(),
                                 protocol::kHandshakeMethod,
                                 Http2Session::kNoTimeout));
    for (int i = 0; i < 2; ++i) {
      Http2Exchange& exchange = exchanges_.emplace_back();
      exchange.output.Fill(payload::RequestHeader(), 100'000);
      Require(session_.SendRequest(exchange, kGenericRpcMethod, 1));
    }
  }

  void Write() {
    const protocol::SendQueue::Outcome outcome = session_.Write(stream_);
    Require(outcome != protocol::SendQueue::Outcome::kBroken);
    Require(session_.queued_bytes() >= 0);
    char buffer[4096];
    while (read(peer_.get(), buffer, sizeof(buffer)) > 0) {
    }
  }

  // Http2Session::Handler.
  Http2Exchange& OnOpened() override {
    Require(is_server_);
    return exchanges_.emplace_back();
  }
  void OnReceived(Http2Exchange& exchange) override {
    Require(exchange.stream_id != 0);
    ++outcome_.exchanges;
    is_server_ ? Answer(exchange) : Read(exchange);
  }
  void OnClosed(Http2Exchange& exchange, absl::string_view) override {
    Require(exchange.stream_id == 0 && exchange.output.bytes_left() == 0);
  }

  void Answer(Http2Exchange& exchange) {
    payload::RequestHeader header;
    if (!exchange.input.is_complete() || !exchange.input.Decode(header)) {
      return session_.SendStatus(exchange, kGrpcInternal, "malformed message");
    }
    ++outcome_.messages;
    exchange.output.Fill(payload::ResponseHeader(), header.response_bytes);
    session_.SendResponse(exchange);
  }

  void Read(Http2Exchange& exchange) {
    payload::ResponseHeader header;
    if (exchange.input.is_complete() && exchange.input.Decode(header)) {
      ++outcome_.messages;
    } else {
      Require(!ErrorOfResponse(exchange.http_status, exchange.grpc_status,
                               exchange.grpc_message)
                   .empty());
    }
  }

  const bool is_server_;
  std::deque<Http2Exchange> exchanges_;  // must outlive the session
  Http2Outcome outcome_;
  Http2Session session_;
  protocol::Stream stream_;
  base::FileDescriptor peer_;
};

}  // namespace

Http2Outcome ReceiveHttp2(absl::string_view input, size_t piece_bytes) {
  if (input.empty()) return {};
  const int kind = static_cast<unsigned char>(input.front()) % 3;
  input.remove_prefix(1);
  if (kind == kHttp2Message) return ReceiveMessage(input, piece_bytes);
  return Side(kind == kHttp2FromClient ? Http2Session::Side::kServer
                                       : Http2Session::Side::kClient)
      .Receive(input, piece_bytes);
}

// What a session makes of its input may depend on what it has sent before.
void FuzzHttp2(absl::string_view input) {
  const Http2Outcome whole = ReceiveHttp2(input, input.size() + 1);
  const bool is_message =
      !input.empty() &&
      static_cast<unsigned char>(input.front()) % 3 == kHttp2Message;
  for (const size_t piece_bytes : {1, 7, 64}) {
    const Http2Outcome in_pieces = ReceiveHttp2(input, piece_bytes);
    Require(!is_message || in_pieces == whole);
  }
}

}  // namespace distbench::http2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::http2::FuzzHttp2(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
