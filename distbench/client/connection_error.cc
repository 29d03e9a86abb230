#include "distbench/client/connection_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/grpc_calls.h"

namespace distbench::client {
namespace {

std::string Explain(const absl::Status& error, const std::string& address,
                    absl::Duration timeout) {
  const absl::string_view message = error.message();
  if (absl::StrContains(message, "Connection refused")) {
    return absl::StrCat("nothing listens at ", address,
                        "; is the test sequencer running there, and is this "
                        "its port?");
  }
  if (absl::StrContains(message, "DNS resolution failed") ||
      absl::StrContains(message, "Domain name not found")) {
    return absl::StrCat("the host name in ", address,
                        " is unknown; is it right? (", message, ")");
  }
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat(address, " did not answer within ",
                          absl::FormatDuration(timeout),
                          "; is the host up, does a firewall allow the port, "
                          "and is it the test sequencer's port?");
    case absl::StatusCode::kUnimplemented:
      return base::NoSuchCalls(address);
    default:
      return absl::StrCat("cannot talk to ", address, ": ", message,
                          "; is it the test sequencer's port?");
  }
}

}  // namespace

absl::Status ExplainConnectionError(const absl::Status& error,
                                    const std::string& address,
                                    absl::Duration timeout) {
  return absl::Status(error.code(), Explain(error, address, timeout));
}

}  // namespace distbench::client
