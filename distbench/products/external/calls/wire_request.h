#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/products/external/requests/message_source.h"

namespace distbench::external {

// A request in the form in which gRPC takes it. Used for one after another.
class WireRequest {
 public:
  WireRequest() = default;
  ~WireRequest() { Clear(); }
  WireRequest(const WireRequest&) = delete;
  WireRequest& operator=(const WireRequest&) = delete;

  void Fill(const EncodedRequest& request);
  void Clear();

  const grpc_slice& message() const { return message_; }
  int64_t size_bytes() const { return GRPC_SLICE_LENGTH(message_); }
  std::vector<grpc_metadata>& metadata() { return metadata_; }

 private:
  grpc_slice message_ = grpc_empty_slice();
  std::vector<grpc_metadata> metadata_;
};

// The requests of an RPC, for one worker. If all are the same, they are encoded
// once and share their memory.
class RequestMaker {
 public:
  RequestMaker(const std::string& method, std::unique_ptr<MessageSource> source)
      : method_(grpc_slice_from_copied_string(method.c_str())),
        source_(std::move(source)) {}
  ~RequestMaker() { grpc_slice_unref(method_); }
  RequestMaker(const RequestMaker&) = delete;
  RequestMaker& operator=(const RequestMaker&) = delete;

  const grpc_slice& method() const { return method_; }
  bool server_streams() const { return source_->server_streams(); }

  // Returns the next request, which is either `storage` or shared. The error
  // says which value does not fit.
  absl::StatusOr<WireRequest*> Next(WireRequest& storage);

 private:
  const grpc_slice method_;
  const std::unique_ptr<MessageSource> source_;
  EncodedRequest encoded_;  // kept to reuse its memory
  bool has_shared_ = false;
  WireRequest shared_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_WIRE_REQUEST_H_
