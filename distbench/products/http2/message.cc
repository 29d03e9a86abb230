// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/message.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace distbench::http2 {
namespace {

// The second look for the end of a message's head is at this size at least.
constexpr size_t kSecondLookBytes = 512;

// Inputs are used again by other streams, so a stranger could make all of them
// large, one after the other.
constexpr size_t kMaxReusedBytes = 4096;

void ClearBytes(std::string& bytes) {
  bytes.clear();
  if (bytes.capacity() > kMaxReusedBytes) bytes = std::string();
}

}  // namespace

// Returns the memory for the message's head.
char* Http2Output::StartMessage(size_t head_bytes, int64_t payload_bytes) {
  head_.resize(kMessagePrefixBytes + head_bytes);
  taken_ = 0;
  payload_left_ = payload_bytes;
  const auto size =
      static_cast<uint32_t>(static_cast<int64_t>(head_bytes) + payload_bytes);
  head_[0] = 0;  // not compressed
  for (int i = 0; i < 4; ++i) {
    head_[1 + i] = static_cast<char>(size >> (24 - 8 * i));
  }
  return head_.data() + kMessagePrefixBytes;
}

template <typename Header>
int64_t Http2Output::Fill(const Header& header, int64_t target_bytes) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  payload::WriteHead(header, layout,
                     StartMessage(layout.head_bytes, layout.payload_bytes));
  return layout.total_bytes();
}

template int64_t Http2Output::Fill(const payload::RequestHeader&, int64_t);
template int64_t Http2Output::Fill(const payload::ResponseHeader&, int64_t);

void Http2Output::FillWith(absl::string_view message) {
  std::copy(message.begin(), message.end(), StartMessage(message.size(), 0));
}

void Http2Output::Clear() {
  head_.clear();
  taken_ = 0;
  payload_left_ = 0;
}

Http2Output::Piece Http2Output::Take(int64_t max_bytes) {
  const auto head_left = static_cast<int64_t>(head_.size() - taken_);
  const auto head_bytes = static_cast<size_t>(std::min(head_left, max_bytes));
  Piece piece = {
      .head = absl::string_view(head_).substr(taken_, head_bytes),
      .payload_bytes = std::min(payload_left_,
                                max_bytes - static_cast<int64_t>(head_bytes))};
  taken_ += head_bytes;
  payload_left_ -= piece.payload_bytes;
  return piece;
}

void Http2Input::Clear() {
  prefix_bytes_ = 0;
  size_ = 0;
  received_ = 0;
  is_valid_ = true;
  has_head_ = false;
  next_look_bytes_ = 0;
  ClearBytes(kept_);
  ClearBytes(scratch_);
}

void Http2Input::Refuse() {
  is_valid_ = false;
  kept_ = std::string();
  scratch_ = std::string();
}

bool Http2Input::Receive(absl::string_view bytes) {
  is_valid_ = is_valid_ && TakePrefix(bytes);
  if (!is_valid_ || bytes.empty()) return is_valid_;
  const auto count = static_cast<int64_t>(bytes.size());
  is_valid_ = count <= size_ - received_ && (has_head_ || KeepHead(bytes));
  received_ += count;
  if (!is_valid_) Refuse();
  return is_valid_;
}

// Takes from `bytes` what the prefix still lacks.
bool Http2Input::TakePrefix(absl::string_view& bytes) {
  if (prefix_bytes_ == kMessagePrefixBytes) return true;
  const size_t count =
      std::min(kMessagePrefixBytes - prefix_bytes_, bytes.size());
  std::copy_n(bytes.data(), count, prefix_ + prefix_bytes_);
  prefix_bytes_ += count;
  bytes.remove_prefix(count);
  if (prefix_bytes_ < kMessagePrefixBytes) return true;
  for (int i = 1; i <= 4; ++i) size_ = size_ << 8 | prefix_[i];
  const bool is_compressed = prefix_[0] != 0;
  return !is_compressed && size_ <= payload::kMaxMessageBytes;
}

// Keeps what precedes the payload. Usually the head is in the first piece.
// Otherwise looks for it when there is twice as much: a message in pieces of
// one byte takes as long, for each byte, as one in a single piece.
bool Http2Input::KeepHead(absl::string_view bytes) {
  const bool is_first = kept_.empty();
  if (!is_first) kept_.append(bytes.data(), bytes.size());
  const absl::string_view begun = is_first ? bytes : kept_;
  const bool is_whole = received_ + static_cast<int64_t>(bytes.size()) == size_;
  size_t head_bytes = 0;
  if (begun.size() >= next_look_bytes_ || is_whole ||
      begun.size() > kMaxKeptBytes) {
    head_bytes = payload::FindHead(begun, size_);
    next_look_bytes_ = std::max(kSecondLookBytes, 2 * begun.size());
  }
  has_head_ = head_bytes > 0;
  if (is_first) {
    kept_.assign(bytes.data(), has_head_ ? head_bytes : bytes.size());
  } else if (has_head_) {
    kept_.resize(head_bytes);
  }
  return kept_.size() <= kMaxKeptBytes;
}

template <typename Header>
bool Http2Input::Decode(Header& header) {
  return payload::DecodeHead(kept_, size_ - static_cast<int64_t>(kept_.size()),
                             header, scratch_);
}

template bool Http2Input::Decode(payload::RequestHeader&);
template bool Http2Input::Decode(payload::ResponseHeader&);

namespace {

// grpc-timeout has at most eight digits.
constexpr int64_t kMaxTimeout = 99'999'999;

constexpr int kMaxGrpcCode = 16;

int64_t CeilOfRatio(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

// As gRPC's http-grpc-status-mapping.
absl::StatusCode CodeOfHttpStatus(absl::string_view http_status) {
  if (http_status == "400") return absl::StatusCode::kInternal;
  if (http_status == "401") return absl::StatusCode::kUnauthenticated;
  if (http_status == "403") return absl::StatusCode::kPermissionDenied;
  if (http_status == "404") return absl::StatusCode::kUnimplemented;
  for (const absl::string_view temporary : {"429", "502", "503", "504"}) {
    if (http_status == temporary) return absl::StatusCode::kUnavailable;
  }
  return absl::StatusCode::kUnknown;
}

std::string Error(absl::StatusCode code, absl::string_view message) {
  return absl::StrCat(absl::StatusCodeToString(code), ": ", message);
}

}  // namespace

std::string GrpcTimeout(int64_t timeout_ns) {
  const int64_t us = CeilOfRatio(std::max<int64_t>(timeout_ns, 1), 1000);
  if (us <= kMaxTimeout) return absl::StrCat(us, "u");
  const int64_t ms = CeilOfRatio(us, 1000);
  if (ms <= kMaxTimeout) return absl::StrCat(ms, "m");
  return absl::StrCat(std::min(CeilOfRatio(ms, 1000), kMaxTimeout), "S");
}

std::string DecodeGrpcMessage(absl::string_view field) {
  std::string message;
  message.reserve(field.size());
  while (!field.empty()) {
    const bool is_encoded = field.size() >= 3 && field[0] == '%' &&
                            absl::ascii_isxdigit(field[1]) &&
                            absl::ascii_isxdigit(field[2]);
    uint32_t byte = 0;
    if (is_encoded && absl::SimpleHexAtoi(field.substr(1, 2), &byte)) {
      message += static_cast<char>(byte);
      field.remove_prefix(3);
    } else {
      message += field[0];
      field.remove_prefix(1);
    }
  }
  return message;
}

std::string ErrorOfResponse(absl::string_view http_status,
                            absl::string_view grpc_status,
                            absl::string_view grpc_message) {
  int code = 0;
  if (!absl::SimpleAtoi(grpc_status, &code)) {
    return http_status == "200"
               ? Error(absl::StatusCode::kInternal,
                       "the response has no gRPC status")
               : Error(CodeOfHttpStatus(http_status),
                       absl::StrCat("the server answers with HTTP status ",
                                    http_status));
  }
  if (code == kGrpcOk) {
    return Error(absl::StatusCode::kInternal, "the response is malformed");
  }
  // gRPC's codes are those of absl.
  const bool is_known = code > 0 && code <= kMaxGrpcCode;
  return Error(is_known ? static_cast<absl::StatusCode>(code)
                        : absl::StatusCode::kUnknown,
               DecodeGrpcMessage(grpc_message));
}

}  // namespace distbench::http2
