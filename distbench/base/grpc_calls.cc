// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/grpc_calls.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace distbench::base {
namespace {

// Leaves room for other headers.
constexpr size_t kMaxEncodedBytes = 6'000;

// The size of a character in gRPC's percent-encoding.
size_t EncodedSize(char c) {
  return absl::ascii_isprint(c) && c != '%' ? 1 : 3;
}

int CountLines(absl::string_view text) {
  int count = 1;
  for (const char c : text) {
    if (c == '\n') ++count;
  }
  return count;
}

}  // namespace

std::string ShortenedMessage(absl::string_view message) {
  size_t encoded_bytes = 0;
  size_t end_of_line = 0;
  for (size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '\n') end_of_line = i;
    encoded_bytes += EncodedSize(message[i]);
    if (encoded_bytes <= kMaxEncodedBytes) continue;
    // A single line that is too long is cut.
    if (end_of_line == 0) return absl::StrCat(message.substr(0, i), "...");
    const int more = CountLines(message.substr(end_of_line + 1));
    return absl::StrCat(message.substr(0, end_of_line), "\n... and ", more,
                        more == 1 ? " more line" : " more lines",
                        "; distbench check_test shows all problems of tests");
  }
  return std::string(message);
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      ShortenedMessage(status.message()));
}

absl::Status ToAbslStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

std::string NoSuchCalls(absl::string_view server) {
  return absl::StrCat(
      "the server at ", server,
      " is not a test sequencer of this distbench: it is another program, or "
      "a sequencer of another implementation, which needs its own clients and "
      "node managers; is it the right port?");
}

}  // namespace distbench::base
