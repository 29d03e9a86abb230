#include "distbench/protocol/tcp/stream_error.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench {

absl::string_view Describe(StreamError error) {
  switch (error) {
    case StreamError::kNone:
      return "no error";
    case StreamError::kNoHello:
      return "the peer is no tcp driver of distbench";
    case StreamError::kOtherVersion:
      return "the peer's tcp driver has another version";
    case StreamError::kHelloTimeout:
      return "the peer did not say hello in time";
    case StreamError::kWrongFrameKind:
      return "a frame of an unexpected kind";
    case StreamError::kOversizedMessage:
      return "an oversized frame: its message is too large";
    case StreamError::kOversizedHead:
      return "an oversized frame: its message's head is too large";
    case StreamError::kHeadBeyondMessage:
      return "a malformed frame: its head is larger than its message";
    case StreamError::kMalformedMessage:
      return "a malformed message";
    case StreamError::kUnknownCall:
      return "a reply to a call that was never made";
    case StreamError::kClosedByPeer:
      return "closed by the peer";
    case StreamError::kSocketFailed:
      return "the connection broke";
  }
  return "unknown error";
}

std::string StreamCounters::ToString() const {
  std::vector<std::string> parts;
  const auto add = [&](int64_t count, absl::string_view what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " x ", what));
  };
  for (size_t i = 1; i < kStreamErrorCount; ++i) {
    add(errors_[i], Describe(static_cast<StreamError>(i)));
  }
  add(reconnects, "reconnecting");
  add(failed_reconnects, "reconnecting in vain");
  add(late_replies, "a reply that came too late");
  add(failed_accepts, "a connection that could not be accepted");
  return absl::StrJoin(parts, ", ");
}

}  // namespace distbench
