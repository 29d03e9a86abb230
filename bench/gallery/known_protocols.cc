// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/gallery/known_protocols.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace bench {
namespace {

// ---- HTTP/1.1 ---------------------------------------------------------------

class Http1 : public Protocol {
 public:
  // Requests have no body, so an empty line ends them.
  bool Read(std::string_view bytes, std::string&) override {
    constexpr std::string_view kEnd = "\r\n\r\n";
    input_ += bytes;
    size_t end;
    while ((end = input_.find(kEnd)) != std::string::npos) {
      input_.erase(0, end + kEnd.size());
      ++request_count_;
    }
    return true;
  }

  bool HasRequest() const override { return request_count_ > 0; }

  void Answer(bool succeeds, std::string& replies) override {
    --request_count_;
    replies += succeeds ? "HTTP/1.1 200 OK\r\n"
                        : "HTTP/1.1 500 Internal Server Error\r\n";
    replies += "Content-Length: 0\r\n\r\n";
  }

 private:
  std::string input_;
  int request_count_ = 0;
};

// ---- HTTP/2 -----------------------------------------------------------------

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kFrameHeaderBytes = 9;

// RFC 9113, sections 6 and 6.5.2.
enum FrameType {
  kData = 0,
  kHeaders = 1,
  kSettings = 4,
  kPing = 6,
  kWindowUpdate = 8
};
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr int64_t kInitialWindow = 65535;

// Header blocks, as indices and literals of HPACK (RFC 7541).
constexpr std::string_view kStatus200 = "\x88";
constexpr std::string_view kStatus500 = "\x8e";
constexpr std::string_view kGrpcHeaders =
    "\x88\x0f\x10\x10"
    "application/grpc";
constexpr std::string_view kGrpcOk(
    "\x00\x0b"
    "grpc-status\x01"
    "0",
    15);
constexpr std::string_view kGrpcInternal(
    "\x00\x0b"
    "grpc-status\x02"
    "13",
    16);

// A gRPC message: not compressed, two bytes long, field 1 is 1. As a reply of
// grpc.health.v1.Health, this is SERVING.
constexpr std::string_view kGrpcMessage("\0\0\0\0\2\x08\x01", 7);

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

uint32_t ReadBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

void AppendFrame(FrameType type, uint8_t flags, uint32_t stream,
                 std::string_view payload, std::string& out) {
  out += BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += BigEndian(stream);
  out += payload;
}

class Http2 : public Protocol {
 public:
  explicit Http2(bool is_grpc) : is_grpc_(is_grpc) {}

  bool Read(std::string_view bytes, std::string& replies) override {
    input_ += bytes;
    if (!is_greeted_) {
      if (input_.size() < kPreface.size()) return true;
      if (input_.compare(0, kPreface.size(), kPreface) != 0) return false;
      input_.erase(0, kPreface.size());
      AppendFrame(kSettings, 0, 0, "", replies);
      is_greeted_ = true;
    }
    size_t begin = 0;
    while (input_.size() - begin >= kFrameHeaderBytes) {
      const std::string_view left = std::string_view(input_).substr(begin);
      const size_t size = ReadBigEndian(left.substr(0, 3));
      if (left.size() < kFrameHeaderBytes + size) break;
      OnFrame(left, left.substr(kFrameHeaderBytes, size), replies);
      begin += kFrameHeaderBytes + size;
    }
    input_.erase(0, begin);
    return true;
  }

  bool HasRequest() const override {
    const bool fits =
        !is_grpc_ || window_ >= static_cast<int64_t>(kGrpcMessage.size());
    return fits && !streams_.empty();
  }

  void Answer(bool succeeds, std::string& replies) override {
    const uint32_t stream = streams_.front();
    streams_.pop_front();
    constexpr uint8_t kLast = kEndHeaders | kEndStream;
    if (!is_grpc_) {
      AppendFrame(kHeaders, kLast, stream, succeeds ? kStatus200 : kStatus500,
                  replies);
      return;
    }
    AppendFrame(kHeaders, kEndHeaders, stream, kGrpcHeaders, replies);
    if (succeeds) {
      AppendFrame(kData, 0, stream, kGrpcMessage, replies);
      window_ -= static_cast<int64_t>(kGrpcMessage.size());
    }
    AppendFrame(kHeaders, kLast, stream, succeeds ? kGrpcOk : kGrpcInternal,
                replies);
  }

 private:
  void OnFrame(std::string_view header, std::string_view payload,
               std::string& replies) {
    const auto type = static_cast<uint8_t>(header[3]);
    const auto flags = static_cast<uint8_t>(header[4]);
    const uint32_t stream = ReadBigEndian(header.substr(5, 4));
    if (type == kData && !payload.empty()) {
      // The connection's window stays as it was.
      AppendFrame(kWindowUpdate, 0, 0,
                  BigEndian(static_cast<uint32_t>(payload.size())), replies);
    }
    if ((type == kData || type == kHeaders) && (flags & kEndStream)) {
      streams_.push_back(stream);
    }
    if (type == kSettings && !(flags & kAck)) {
      AppendFrame(kSettings, kAck, 0, "", replies);
    }
    if (type == kPing && !(flags & kAck)) {
      AppendFrame(kPing, kAck, 0, payload, replies);
    }
    if (type == kWindowUpdate && stream == 0) window_ += ReadBigEndian(payload);
  }

  const bool is_grpc_;
  std::string input_;
  bool is_greeted_ = false;
  int64_t window_ = kInitialWindow;  // bytes of data that the client allows
  std::deque<uint32_t> streams_;     // requests that are complete
};

}  // namespace

std::unique_ptr<Protocol> MakeProtocol(std::string_view name) {
  if (name == "http1") return std::make_unique<Http1>();
  return std::make_unique<Http2>(name == "grpc");
}

}  // namespace bench
