// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Requests of external calls in the form in which gRPC takes them, and what is
// to be known of their responses.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/products/external/requests/message_source.h"

namespace distbench::external {

// What is counted of the messages of one worker, warm-up included. Of messages
// that are compressed: their bytes, and those that took their place.
struct MessageCounts {
  std::atomic<int64_t> request_bytes = 0;
  std::atomic<int64_t> compressed_request_bytes = 0;
  std::atomic<int64_t> response_bytes = 0;
  std::atomic<int64_t> compressed_response_bytes = 0;

  // Calls that failed because a response was too long.
  std::atomic<int64_t> too_long_responses = 0;
};

// A request in the form in which gRPC takes it. Used for one after another.
class WireRequest {
 public:
  WireRequest() = default;
  ~WireRequest() { Clear(); }
  WireRequest(const WireRequest&) = delete;
  WireRequest& operator=(const WireRequest&) = delete;

  void Fill(const EncodedRequest& request, bool uses_gzip);
  void Clear();

  // Returns the message, which the caller destroys.
  grpc_byte_buffer* NewBuffer() const;

  // Of the message before it was compressed, and as it is sent.
  int64_t size_bytes() const { return size_bytes_; }
  int64_t sent_bytes() const { return GRPC_SLICE_LENGTH(message_); }
  bool is_compressed() const { return is_compressed_; }

  std::vector<grpc_metadata>& metadata() { return metadata_; }

 private:
  grpc_slice message_ = grpc_empty_slice();
  int64_t size_bytes_ = 0;
  bool is_compressed_ = false;
  std::vector<grpc_metadata> metadata_;
};

// The requests of an RPC, for one worker. If all are the same, they are encoded
// once and share their memory.
class RequestMaker {
 public:
  // The call and the counts must outlive this.
  RequestMaker(const ExternalCall& call, std::unique_ptr<MessageSource> source,
               MessageCounts& counts)
      : call_(call), source_(std::move(source)), counts_(counts) {}
  RequestMaker(const RequestMaker&) = delete;
  RequestMaker& operator=(const RequestMaker&) = delete;

  const std::string& method() const { return call_.method; }
  bool server_streams() const { return source_->server_streams(); }

  // Flags of the initial metadata of calls.
  uint32_t metadata_flags() const;

  // Returns the next request, which is either `storage` or shared. The error
  // says which value does not fit.
  absl::StatusOr<WireRequest*> Next(const RequestWish& wish,
                                    WireRequest& storage);

 private:
  void Count(const WireRequest& request);

  const ExternalCall& call_;
  const std::unique_ptr<MessageSource> source_;
  MessageCounts& counts_;
  EncodedRequest encoded_;  // kept to reuse its memory
  bool has_shared_ = false;
  WireRequest shared_;
};

// Compresses as gRPC does.
std::string Gzip(absl::string_view bytes);

// Returns the size of a response, which is uncompressed for that; nothing of it
// is kept. RESOURCE_EXHAUSTED if it is longer than the limit, and INTERNAL if
// it is not what it should be.
absl::StatusOr<int64_t> MeasureResponse(grpc_byte_buffer& response,
                                        int64_t max_bytes,
                                        MessageCounts& counts);

// Returns the error of a call with this status, in the form of
// ClientCall::error. Says and counts it if gRPC found a response too long.
std::string ErrorOfCall(grpc_status_code status, absl::string_view message,
                        int64_t max_response_bytes, MessageCounts& counts);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_
