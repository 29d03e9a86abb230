// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/wire_request.h"

#include <grpc/byte_buffer.h>
#include <grpc/compression.h>
#include <grpc/slice_buffer.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::external {
namespace {

grpc_slice CopyOf(const std::string& text) {
  return grpc_slice_from_copied_buffer(text.data(), text.size());
}

// Asks gRPC to say in the call's header how messages are compressed, and to
// compress those that are not.
grpc_metadata GzipMetadata() {
  grpc_metadata entry = {};
  entry.key =
      grpc_slice_from_static_string(GRPC_COMPRESSION_REQUEST_ALGORITHM_MD_KEY);
  entry.value = grpc_slice_from_static_string("gzip");
  return entry;
}

// zlib's windows of 32 KiB, with gzip's header; and with whichever of both.
constexpr int kGzipBits = 15 + 16;
constexpr int kAnyHeaderBits = 15 + 32;
constexpr int kDefaultMemory = 8;

Bytef* BytesOf(absl::string_view text) {
  // zlib does not write to its input.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  CHECK_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipBits,
                        kDefaultMemory, Z_DEFAULT_STRATEGY),
           Z_OK);
  std::string compressed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = BytesOf(bytes);
  stream.avail_in = bytes.size();
  stream.next_out = BytesOf(compressed);
  stream.avail_out = compressed.size();
  CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

void WireRequest::Fill(const EncodedRequest& request, bool uses_gzip) {
  Clear();
  size_bytes_ = static_cast<int64_t>(request.message.size());
  is_compressed_ = uses_gzip;
  message_ = CopyOf(uses_gzip ? Gzip(request.message) : request.message);
  for (const auto& [name, value] : request.metadata) {
    grpc_metadata& entry = metadata_.emplace_back();
    entry.key = CopyOf(name);
    entry.value = CopyOf(value);
  }
  if (uses_gzip) metadata_.push_back(GzipMetadata());
}

void WireRequest::Clear() {
  grpc_slice_unref(message_);
  message_ = grpc_empty_slice();
  for (grpc_metadata& entry : metadata_) {
    grpc_slice_unref(entry.key);
    grpc_slice_unref(entry.value);
  }
  metadata_.clear();
}

grpc_byte_buffer* WireRequest::NewBuffer() const {
  grpc_slice message = message_;
  return is_compressed_ ? grpc_raw_compressed_byte_buffer_create(
                              &message, 1, GRPC_COMPRESS_GZIP)
                        : grpc_raw_byte_buffer_create(&message, 1);
}

uint32_t RequestMaker::metadata_flags() const {
  return call_.waits_for_ready
             ? GRPC_INITIAL_METADATA_WAIT_FOR_READY |
                   GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET
             : 0;
}

absl::StatusOr<WireRequest*> RequestMaker::Next(const RequestWish& wish,
                                                WireRequest& storage) {
  if (!has_shared_) {
    if (absl::Status made = source_->Next(encoded_, wish); !made.ok()) {
      return made;
    }
    has_shared_ = source_->is_constant();
    (has_shared_ ? shared_ : storage).Fill(encoded_, call_.uses_gzip);
  }
  WireRequest& request = has_shared_ ? shared_ : storage;
  Count(request);
  return &request;
}

void RequestMaker::Count(const WireRequest& request) {
  if (!request.is_compressed()) return;
  counts_.request_bytes += request.size_bytes();
  counts_.compressed_request_bytes += request.sent_bytes();
}

namespace {

absl::Status TooLong(int64_t max_bytes, MessageCounts& counts) {
  ++counts.too_long_responses;
  return absl::ResourceExhaustedError(
      absl::StrCat("a response has more than ", max_bytes,
                   " bytes; raise max_response of the external service, if "
                   "such responses are right"));
}

absl::Status NotGzip() {
  return absl::InternalError("a response is compressed, but cannot be read");
}

// Uncompresses slices, and forgets what comes out.
class Inflater {
 public:
  Inflater() { CHECK_EQ(inflateInit2(&stream_, kAnyHeaderBits), Z_OK); }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Returns whether this may be a part of what was compressed. Stops when more
  // than max_bytes have come out.
  bool Add(absl::string_view part, int64_t max_bytes) {
    stream_.next_in = BytesOf(part);
    stream_.avail_in = part.size();
    while (stream_.avail_in > 0 && size() <= max_bytes) {
      if (is_over_) return false;
      if (!AddPiece()) return false;
    }
    return true;
  }

  // Asks for the rest. Returns whether everything has come out.
  bool Finish(int64_t max_bytes) {
    while (!is_over_ && size() <= max_bytes) {
      const int64_t before = size();
      if (!AddPiece() || size() == before) break;
    }
    return is_over_;
  }

  int64_t size() const { return static_cast<int64_t>(stream_.total_out); }

 private:
  bool AddPiece() {
    stream_.next_out = scratch_;
    stream_.avail_out = sizeof(scratch_);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    is_over_ = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
  }

  z_stream stream_ = {};
  bool is_over_ = false;
  Bytef scratch_[16384];
};

}  // namespace

absl::StatusOr<int64_t> MeasureResponse(grpc_byte_buffer& response,
                                        int64_t max_bytes,
                                        MessageCounts& counts) {
  const auto length = static_cast<int64_t>(grpc_byte_buffer_length(&response));
  if (response.data.raw.compression == GRPC_COMPRESS_NONE) {
    if (length > max_bytes) return TooLong(max_bytes, counts);
    return length;
  }
  Inflater inflater;
  const grpc_slice_buffer& slices = response.data.raw.slice_buffer;
  for (size_t i = 0; i < slices.count; ++i) {
    const absl::string_view part = protocol::ViewOf(slices.slices[i]);
    if (!inflater.Add(part, max_bytes)) return NotGzip();
  }
  const bool is_whole = inflater.Finish(max_bytes);
  if (inflater.size() > max_bytes) return TooLong(max_bytes, counts);
  if (!is_whole) return NotGzip();
  counts.response_bytes += inflater.size();
  counts.compressed_response_bytes += length;
  return inflater.size();
}

std::string ErrorOfCall(grpc_status_code status, absl::string_view message,
                        int64_t max_response_bytes, MessageCounts& counts) {
  // As gRPC says of itself. There is no other sign that it was not the server.
  if (status == GRPC_STATUS_RESOURCE_EXHAUSTED &&
      absl::StrContains(message, "eceived message larger than max (")) {
    const absl::Status too_long = TooLong(max_response_bytes, counts);
    return protocol::ErrorOf(status, too_long.message());
  }
  return protocol::ErrorOf(status, message);
}

}  // namespace distbench::external
