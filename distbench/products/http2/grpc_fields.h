// The header fields with which gRPC says when a request's time is up and how an
// RPC has ended.

#ifndef DISTBENCH_PRODUCTS_HTTP2_GRPC_FIELDS_H_
#define DISTBENCH_PRODUCTS_HTTP2_GRPC_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench::http2 {

// gRPC's status codes, as far as they are sent.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcInvalidArgument = 3;
inline constexpr int kGrpcUnimplemented = 12;
inline constexpr int kGrpcInternal = 13;

// Returns the value of grpc-timeout for a duration, rounded up to what it can
// express: microseconds up to 100 s, then milliseconds up to a day, then
// seconds up to three years, the maximum. Times in the past count as 1 us.
std::string GrpcTimeout(int64_t timeout_ns);

// Returns the text of grpc-message, which is percent-encoded. What is no valid
// encoding stays as it is.
std::string DecodeGrpcMessage(absl::string_view field);

// Returns why an RPC has failed, as "CODE_NAME: message": from the fields
// :status, grpc-status and grpc-message of a response that is no success, or
// whose message is missing or malformed. Fields that were not sent are empty.
std::string ErrorOfResponse(absl::string_view http_status,
                            absl::string_view grpc_status,
                            absl::string_view grpc_message);

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_GRPC_FIELDS_H_
