// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// As much of HTTP/1.1, HTTP/2 and gRPC as load generators need to be answered.
// Not for input that is not trusted. Not thread-safe.

#ifndef BENCH_GALLERY_KNOWN_PROTOCOLS_H_
#define BENCH_GALLERY_KNOWN_PROTOCOLS_H_

#include <memory>
#include <string>
#include <string_view>

namespace bench {

// The server's side of one connection.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // Takes what arrived, and appends what must be sent whatever the requests
  // are. Returns false if the connection cannot go on.
  virtual bool Read(std::string_view bytes, std::string& replies) = 0;

  // Whether there is a request that may be answered now.
  virtual bool HasRequest() const = 0;

  // Appends the reply to the oldest request.
  virtual void Answer(bool succeeds, std::string& replies) = 0;
};

// `name` is "http1", "http2" or "grpc". A request that fails is answered with
// status 500, in gRPC with INTERNAL.
std::unique_ptr<Protocol> MakeProtocol(std::string_view name);

}  // namespace bench

#endif  // BENCH_GALLERY_KNOWN_PROTOCOLS_H_
