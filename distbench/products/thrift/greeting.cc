// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/greeting.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/products/thrift/message.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/security/nonce.h"

namespace distbench::thrift {
namespace {

// Each connection has a sequence of its own afterwards.
constexpr uint32_t kSequenceId = 0;

// What an answer begins with: its size and its version.
constexpr size_t kFirstBytes = 8;

// No answer or exception is as large.
constexpr size_t kMaxAnswerBytes = 64 * 1024;

}  // namespace

ThriftGreeting::ThriftGreeting(absl::string_view nonce)
    : nonce_(nonce),
      challenge_(security::DrawChallenge(nonce)),
      output_(ThriftFrame(ThriftType::kCall, kThriftHandshake, kSequenceId,
                          protocol::HandshakeRequestWith(challenge_))),
      missing_bytes_(kFirstBytes) {}

std::string ThriftGreeting::TakeOutput() { return std::exchange(output_, {}); }

// Reads the beginning of the answer, and then its other bytes.
protocol::StreamError ThriftGreeting::Receive(absl::string_view bytes) {
  absl::StrAppend(&received_, bytes);
  missing_bytes_ -= bytes.size();
  if (missing_bytes_ > 0) return protocol::StreamError::kNone;
  bool is_judged = false;
  ThriftDecoder decoder;
  const protocol::StreamError error =
      decoder.Decode(received_, [&](const ThriftMessage& answer) {
        is_judged = true;
        return Judge(answer);
      });
  if (error != protocol::StreamError::kNone || is_judged) return error;
  uint32_t frame_bytes = 0;
  const bool has_size = ThriftReader(received_).Read32(frame_bytes);
  if (!has_size || frame_bytes > kMaxAnswerBytes) {
    return protocol::StreamError::kOversizedMessage;
  }
  missing_bytes_ = kThriftSizeBytes + frame_bytes - received_.size();
  return protocol::StreamError::kNone;
}

protocol::StreamError ThriftGreeting::Judge(const ThriftMessage& answer) {
  if (answer.sequence_id != kSequenceId)
    return protocol::StreamError::kUnknownCall;
  if (answer.type == ThriftType::kException) {
    return protocol::StreamError::kHandshakeRefused;
  }
  if (answer.type != ThriftType::kReply || answer.method != kThriftHandshake) {
    return protocol::StreamError::kWrongFrameKind;
  }
  return protocol::ProblemOfAnswer(nonce_, challenge_, answer.body).empty()
             ? protocol::StreamError::kNone
             : protocol::StreamError::kOtherTest;
}

std::unique_ptr<protocol::ClientGreeting> MakeThriftGreeting(
    absl::string_view nonce) {
  return std::make_unique<ThriftGreeting>(nonce);
}

}  // namespace distbench::thrift
