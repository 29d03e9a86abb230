// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/testing/fuzz_entry.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/products/thrift/greeting.h"
#include "distbench/products/thrift/message.h"

namespace distbench::thrift {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Passes the bytes on in pieces with memory of their own, so that sanitizers
// notice reads beyond them, as long as `receive(piece)` returns no error.
template <typename Receive>
protocol::StreamError InPieces(absl::string_view bytes, size_t piece_bytes,
                               const Receive& receive) {
  protocol::StreamError error = protocol::StreamError::kNone;
  while (!bytes.empty() && error == protocol::StreamError::kNone) {
    const std::string piece(bytes.substr(0, piece_bytes));
    bytes.remove_prefix(piece.size());
    error = receive(piece);
  }
  return error;
}

std::string Describe(const ThriftMessage& message) {
  payload::RequestHeader request;
  payload::ResponseHeader response;
  std::string scratch;
  const bool is_request = payload::DecodeHead(
      message.body, message.payload_bytes, request, scratch);
  const bool is_response = payload::DecodeHead(
      message.body, message.payload_bytes, response, scratch);
  return absl::StrCat(static_cast<int>(message.type), " ", message.method, " ",
                      message.sequence_id, " ", message.size(), " ", is_request,
                      is_response, " ", ThriftExceptionText(message.body),
                      "\n");
}

}  // namespace

DecodedThrift DecodeThrift(absl::string_view bytes, size_t piece_bytes) {
  DecodedThrift result;
  ThriftDecoder decoder;
  result.error = InPieces(bytes, piece_bytes, [&](const std::string& piece) {
    return decoder.Decode(piece, [&](const ThriftMessage& message) {
      absl::StrAppend(&result.messages, Describe(message));
      ++result.count;
      return protocol::StreamError::kNone;
    });
  });
  return result;
}

void DecodeThriftInPieces(absl::string_view bytes) {
  const DecodedThrift whole = DecodeThrift(bytes, bytes.size() + 1);
  for (const size_t piece_bytes : {1, 7, 64}) {
    const DecodedThrift pieces = DecodeThrift(bytes, piece_bytes);
    Require(pieces.messages == whole.messages);
    // What is wrong with the last frame may be noticed only when it has ended.
    Require(pieces.error == whole.error ||
            pieces.error == protocol::StreamError::kNone);
  }
  ThriftGreeting greeting("nonce");
  while (!bytes.empty() && greeting.missing_bytes() > 0) {
    const size_t taken = std::min(bytes.size(), greeting.missing_bytes());
    if (greeting.Receive(bytes.substr(0, taken)) !=
        protocol::StreamError::kNone)
      return;
    bytes.remove_prefix(taken);
  }
  // Proofs cannot be guessed.
  Require(greeting.missing_bytes() > 0);
}

}  // namespace distbench::thrift

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::thrift::DecodeThriftInPieces(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
