// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/testing/fuzz_entry.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "distbench/base/files.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::protocol {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Answers each request as an engine does, and reads the reply as a client does.
class Answers {
 public:
  explicit Answers(FrameKind kind) : kind_(kind), decoder_(kind) {
    int ends[2];
    Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    stream_ = Stream(base::FileDescriptor(ends[0]));
    client_ = base::FileDescriptor(ends[1]);
  }

  void Add(const FrameHeader& request, const payload::RequestHeader& header) {
    const int64_t asked = header.response_bytes != kServerDecides
                              ? header.response_bytes
                              : kReplyBytes;
    const int64_t sent = Append(request.call_id, asked);
    Require(sent ==
            payload::LayOutMessage(
                payload::ResponseHeader{.server_instance = kInstance}, asked)
                .total_bytes());
    Require(queue_.Write(stream_) != SendQueue::Outcome::kBroken);
    Receive(request.call_id, sent + static_cast<int64_t>(TimesBytes(kind_)));
  }

 private:
  static constexpr int64_t kReplyBytes = 16;
  static constexpr int kInstance = 0;
  static constexpr int64_t kQueueNs = 3;
  static constexpr int64_t kHandlerNs = 5;

  int64_t Append(uint64_t call_id, int64_t bytes) {
    const payload::ResponseHeader header = {.server_instance = kInstance};
    if (kind_ == FrameKind::kReply) {
      return queue_.Append(kind_, call_id, header, bytes);
    }
    const int64_t sent =
        queue_.AppendTimedReply(call_id, header, bytes, kQueueNs, 0);
    queue_.StampReplies(kHandlerNs);
    return sent;
  }

  // Takes the times from the head.
  void CheckTimes(absl::string_view& head) const {
    if (kind_ == FrameKind::kReply) return;
    Require(head.size() >= TimesBytes(kind_));
    const ReplyTimes times = DecodeReplyTimes(head.data());
    Require(times.queue_ns == kQueueNs && times.handler_ns == kHandlerNs);
    head.remove_prefix(TimesBytes(kind_));
  }

  // Of a large reply, only the beginning is sent.
  void Receive(uint64_t call_id, int64_t message_bytes) {
    char buffer[4096];
    int replies = 0;
    const auto on_frame = [&](const FrameHeader& frame,
                              absl::string_view head) {
      CheckTimes(head);
      const payload::ResponseHeader* const header =
          heads_.Read(head, frame.message_bytes - frame.head_bytes);
      Require(header != nullptr && header->server_instance == kInstance);
      Require(frame.call_id == call_id && frame.message_bytes == message_bytes);
      ++replies;
      return StreamError::kNone;
    };
    while (true) {
      const ssize_t count = read(client_.get(), buffer, sizeof(buffer));
      if (count <= 0) break;
      Require(decoder_.Decode(absl::string_view(buffer, count), on_frame) ==
              StreamError::kNone);
    }
    Require(replies == (queue_.empty() ? 1 : 0));
    if (queue_.empty()) return;
    queue_.Clear();
    decoder_.Reset();
  }

  const FrameKind kind_;
  Stream stream_;
  base::FileDescriptor client_;
  SendQueue queue_;
  FrameDecoder decoder_;
  HeadReader<payload::ResponseHeader> heads_;
};

// Replies end at the client; they need no answer.
void Answer(const FrameHeader& frame, const payload::RequestHeader& header,
            FrameKind kind, std::optional<Answers>& answers) {
  if (!answers.has_value()) answers.emplace(kind);
  answers->Add(frame, header);
}
void Answer(const FrameHeader&, const payload::ResponseHeader&, FrameKind,
            std::optional<Answers>&) {}

bool IsSame(const payload::RequestHeader& a, const payload::RequestHeader& b) {
  return a.rpc_index == b.rpc_index && a.server_instance == b.server_instance &&
         a.warmup == b.warmup && a.response_bytes == b.response_bytes &&
         a.processing_ns == b.processing_ns &&
         a.trace_context == b.trace_context;
}
bool IsSame(const payload::ResponseHeader& a,
            const payload::ResponseHeader& b) {
  return a.server_instance == b.server_instance &&
         a.error_message == b.error_message;
}

template <typename Header>
DecodedStream DecodeAs(FrameKind kind, FrameKind answer_kind,
                       absl::string_view bytes, size_t piece_bytes) {
  DecodedStream result;
  FrameDecoder decoder(kind);
  HeadReader<Header> heads;
  std::optional<Answers> answers;
  std::string scratch;
  const auto on_frame = [&](const FrameHeader& frame, absl::string_view head) {
    if (head.size() < TimesBytes(kind)) return StreamError::kMalformedMessage;
    head.remove_prefix(TimesBytes(kind));
    const int64_t payload_bytes = frame.message_bytes - frame.head_bytes;
    const Header* const header = heads.Read(head, payload_bytes);
    // A head must decode the same way without the memory of earlier ones.
    Header read_alone;
    const bool is_well_formed =
        payload::DecodeHead(head, payload_bytes, read_alone, scratch);
    Require((header != nullptr) == is_well_formed);
    if (header == nullptr) return StreamError::kMalformedMessage;
    Require(IsSame(*header, read_alone));
    Answer(frame, *header, answer_kind, answers);
    ++result.frames;
    return StreamError::kNone;
  };
  while (!bytes.empty() && result.error == StreamError::kNone) {
    const size_t taken = std::min(piece_bytes, bytes.size());
    // Has its own memory, so that sanitizers notice reads beyond it.
    const std::string piece(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    result.error = decoder.Decode(piece, on_frame);
  }
  return result;
}

// Greets with bytes that were made without knowledge of the nonce.
DecodedStream Greet(Greeting::Side side, absl::string_view bytes,
                    size_t piece_bytes) {
  DecodedStream result;
  Greeting greeting(side, "nonce");
  while (!bytes.empty() && greeting.missing_bytes() > 0 &&
         result.error == StreamError::kNone) {
    const size_t taken =
        std::min({piece_bytes, bytes.size(), greeting.missing_bytes()});
    const std::string piece(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    result.error = greeting.Receive(piece);
    greeting.TakeOutput();
  }
  result.greeted =
      greeting.missing_bytes() == 0 && result.error == StreamError::kNone;
  return result;
}

}  // namespace

DecodedStream DecodeStream(absl::string_view bytes, size_t piece_bytes) {
  if (bytes.empty()) return {};
  const bool requests = bytes.front() % 2 != 0;
  const bool greeting = (bytes.front() & kGreetingBit) != 0;
  const FrameKind reply_kind = (bytes.front() & kTimesBit) != 0
                                   ? FrameKind::kTimedReply
                                   : FrameKind::kReply;
  bytes.remove_prefix(1);
  if (greeting) {
    return Greet(requests ? Greeting::Side::kServer : Greeting::Side::kClient,
                 bytes, piece_bytes);
  }
  return requests ? DecodeAs<payload::RequestHeader>(
                        FrameKind::kRequest, reply_kind, bytes, piece_bytes)
                  : DecodeAs<payload::ResponseHeader>(reply_kind, reply_kind,
                                                      bytes, piece_bytes);
}

void DecodeInPieces(absl::string_view bytes) {
  const DecodedStream whole = DecodeStream(bytes, bytes.size() + 1);
  // Proofs cannot be guessed.
  Require(!whole.greeted);
  for (size_t piece_bytes : {1, 7, 64}) {
    Require(DecodeStream(bytes, piece_bytes) == whole);
  }
}

}  // namespace distbench::protocol

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::protocol::DecodeInPieces(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
