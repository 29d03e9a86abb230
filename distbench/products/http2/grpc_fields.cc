#include "distbench/products/http2/grpc_fields.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace distbench::http2 {
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
