#include "distbench/protocol/tcp/stream_error.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::protocol {

absl::string_view Describe(StreamError error) {
  switch (error) {
    case StreamError::kNone:
      return "no error";
    case StreamError::kNoHello:
      return "the peer is not a tcp driver of distbench";
    case StreamError::kOtherVersion:
      return "the peer's tcp driver has another version";
    case StreamError::kHelloTimeout:
      return "the peer did not say hello in time";
    case StreamError::kOtherTest:
      return "the peer does not know this test's nonce: it takes part in "
             "another test, or in none";
    case StreamError::kTlsFailed:
      return "no TLS connection";
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
    case StreamError::kProtocolViolated:
      return "the RPC protocol was violated";
    case StreamError::kNotThrift:
      return "the peer does not speak Thrift's strict binary protocol in "
             "frames";
    case StreamError::kHandshakeRefused:
      return "the peer has refused the handshake: it is no instance of "
             "distbench";
    case StreamError::kClosedByPeer:
      return "closed by the peer";
    case StreamError::kSocketFailed:
      return "the connection broke";
    case StreamError::kOnPurpose:
      return "broken on purpose, as the test asks";
  }
  return "unknown error";
}

absl::string_view NameOf(StreamError error) {
  switch (error) {
    case StreamError::kNone:
      return "none";
    case StreamError::kNoHello:
      return "no_hello";
    case StreamError::kOtherVersion:
      return "other_version";
    case StreamError::kHelloTimeout:
      return "hello_timeout";
    case StreamError::kOtherTest:
      return "other_test";
    case StreamError::kTlsFailed:
      return "tls_failed";
    case StreamError::kWrongFrameKind:
      return "wrong_frame_kind";
    case StreamError::kOversizedMessage:
      return "oversized_message";
    case StreamError::kOversizedHead:
      return "oversized_head";
    case StreamError::kHeadBeyondMessage:
      return "head_beyond_message";
    case StreamError::kMalformedMessage:
      return "malformed_message";
    case StreamError::kUnknownCall:
      return "unknown_call";
    case StreamError::kProtocolViolated:
      return "protocol_violated";
    case StreamError::kNotThrift:
      return "not_thrift";
    case StreamError::kHandshakeRefused:
      return "handshake_refused";
    case StreamError::kClosedByPeer:
      return "closed_by_peer";
    case StreamError::kSocketFailed:
      return "socket_failed";
    case StreamError::kOnPurpose:
      return "on_purpose";
  }
  return "unknown";
}

std::vector<DriverCounter> StreamCounters::List() const {
  std::vector<DriverCounter> counters;
  const auto add = [&](std::string name, int64_t value) {
    if (value > 0) counters.push_back({std::move(name), value});
  };
  for (size_t i = 1; i < kStreamErrorCount; ++i) {
    add(absl::StrCat("connections_lost_", NameOf(static_cast<StreamError>(i))),
        errors_[i]);
  }
  add("reconnects", reconnects);
  add("failed_reconnects", failed_reconnects);
  add("renewed_connections", renewed_connections);
  add("late_replies", late_replies);
  add("failed_accepts", failed_accepts);
  add("zero_copy_sends", zero_copy_sends);
  add("zero_copy_copied", zero_copy_copied);
  return counters;
}

}  // namespace distbench::protocol
