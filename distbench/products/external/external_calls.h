// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What instances call outside of their test. Plain data.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::external {

// What a test calls is "HOST:PORT", or a name for several servers: this and the
// HOST:PORT whose addresses they have.
inline constexpr absl::string_view kNameScheme = "dns:///";

inline bool IsName(absl::string_view target) {
  return absl::StartsWith(target, kNameScheme);
}

inline absl::string_view HostPortOfTarget(absl::string_view target) {
  absl::ConsumePrefix(&target, kNameScheme);
  return target;
}

// Names of counters of an instance, warm-up included. Of messages that were
// compressed: their bytes before and after.
inline constexpr char kRequestBytes[] = "gzip_request_bytes_before";
inline constexpr char kCompressedRequestBytes[] = "gzip_request_bytes_after";
inline constexpr char kResponseBytes[] = "gzip_response_bytes_before";
inline constexpr char kCompressedResponseBytes[] = "gzip_response_bytes_after";
// RPCs that failed by max_response.
inline constexpr char kTooLongResponses[] = "responses_above_max_response";

// What an RPC asks of a method that streams.
struct CallStream {
  bool sends_several = false;  // request messages
  bool is_echo = false;
};

// An RPC whose server is not part of the test.
struct ExternalCall {
  // Such as "/package.Service/Method".
  std::string method;

  // The request, as JSON or in protobuf's text format. May contain templates
  // (distbench/products/external/requests/template.h).
  std::string request;
  bool is_json = true;

  // Instead, in the wire format: these bytes, for all requests. Such a call
  // needs no descriptors.
  std::optional<std::string> binary_request = {};

  // Names and values of metadata; values may contain templates.
  std::vector<std::pair<std::string, std::string>> metadata;

  // Rows for templates; the first names the columns.
  std::vector<std::vector<std::string>> rows;

  // A serialised FileDescriptorSet with the method. If empty, the server is
  // asked by gRPC's reflection, if the call needs it.
  std::string descriptors;

  // Present if the RPC streams. Otherwise, it sends one message, and ends with
  // the last response.
  std::optional<CallStream> stream = {};

  bool uses_gzip = false;  // for requests
  bool waits_for_ready = false;

  // The servers that are called, as their peer has them: others may have a
  // method of this name with other types. Empty: any external peer.
  std::vector<std::string> servers = {};
};

// How to reach a server.
struct ExternalServer {
  bool uses_tls = false;

  // Takes any certificate of any name.
  bool skips_verification = false;

  // What the client shows, in PEM. Empty: nothing.
  std::string client_certificates = {};
  std::string client_key = {};

  // Certificates that are trusted, in PEM. Empty: those of the host.
  std::string ca_certificates = {};

  // The name in the server's certificate. Empty: the host of the first address
  // of its service.
  std::string server_name = {};

  std::string user_agent = {};

  // From each worker, and whether one of those gets a call that have the fewest
  // in flight, or each in turn.
  int connections = 1;
  bool uses_least_in_flight = false;

  // Of a message, uncompressed.
  int64_t max_response_bytes = int64_t{64} << 20;

  // RPCs, and further messages of streams, per second that the instance may
  // send to it, at most; 0: any number.
  double max_rate = 0;

  // Of a name: the servers that it stands for, as HOST:PORT with an IP address,
  // the most that each of them gets, as max_rate, and how gRPC chooses among
  // them, as in protocol::Peer.
  std::map<std::string, double> pinned = {};
  std::string policy = {};
};

// What an instance calls outside of its test.
struct ExternalCalls {
  std::map<int, ExternalCall> calls;              // by RPC index
  std::map<std::string, ExternalServer> servers;  // as the test has them

  // What templates depend on: the instance's name, its number among all of the
  // test, from which its first row follows, and the test's seed.
  std::string instance_name;
  int instance_number = 0;
  uint64_t seed = 0;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_CALLS_H_
