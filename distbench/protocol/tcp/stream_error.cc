// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream_error.h"

#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {

namespace {

struct Texts {
  const char* name;
  const char* description;
};

// In the order of StreamError.
constexpr Texts kTexts[] = {
    {"none", "no error"},
    {"no_hello", "the peer is not a tcp driver of distbench"},
    {"other_version", "the peer's tcp driver has another version"},
    {"hello_timeout", "the peer did not say hello in time"},
    {"other_test",
     "the peer does not know this test's nonce: it takes part in "
     "another test, or in none"},
    {"tls_failed", "no TLS connection"},
    {"wrong_frame_kind", "a frame of an unexpected kind"},
    {"oversized_message", "an oversized frame: its message is too large"},
    {"oversized_head", "an oversized frame: its message's head is too large"},
    {"head_beyond_message",
     "a malformed frame: its head is larger than its message"},
    {"malformed_message", "a malformed message"},
    {"unknown_call", "a reply to a call that was never made"},
    {"protocol_violated", "the RPC protocol was violated"},
    {"not_thrift",
     "the peer does not speak Thrift's strict binary protocol in frames"},
    {"handshake_refused",
     "the peer has refused the handshake: it is no instance of distbench"},
    {"closed_by_peer", "closed by the peer"},
    {"socket_failed", "the connection broke"},
    {"not_watched", "the connection could not be used"},
    {"stranger",
     "the client has not shown that it takes part in this test, and was silent "
     "or one of too many"},
    {"on_purpose", "broken on purpose, as the test asks"},
};
static_assert(std::size(kTexts) == kStreamErrorCount);

const Texts& TextsOf(StreamError error) {
  return kTexts[static_cast<size_t>(error)];
}

}  // namespace

absl::string_view Describe(StreamError error) {
  return TextsOf(error).description;
}

std::string Describe(StreamError error, absl::string_view details) {
  return details.empty() ? std::string(Describe(error))
                         : absl::StrCat(Describe(error), ": ", details);
}

absl::string_view NameOf(StreamError error) { return TextsOf(error).name; }

void StreamCounters::CountEnd(StreamError error, bool was_in_use) {
  const bool is_loss = error == StreamError::kClosedByPeer ||
                       error == StreamError::kSocketFailed;
  if (!is_loss || was_in_use) ++errors_[Index(error)];
}

std::vector<DriverCounter> StreamCounters::List() const {
  std::vector<DriverCounter> counters;
  for (size_t i = 1; i < kStreamErrorCount; ++i) {
    const absl::string_view name = NameOf(static_cast<StreamError>(i));
    AddCounters({{absl::StrCat("connections_lost_", name), errors_[i]}},
                counters);
  }
  AddCounters({{"reconnects", reconnects},
               {"failed_reconnects", failed_reconnects},
               {"renewed_connections", renewed_connections},
               {"late_replies", late_replies},
               {"failed_accepts", failed_accepts},
               {"zero_copy_sends", zero_copy_sends},
               {"zero_copy_copied", zero_copy_copied},
               {"wire_stamps", wire_stamps},
               {"wire_stamps_missing", wire_stamps_missing},
               {"wire_clock_steps", wire_clock_steps}},
              counters);
  return counters;
}

}  // namespace distbench::protocol
