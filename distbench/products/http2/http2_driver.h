// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs in gRPC's wire format over HTTP/2 without gRPC, with or without TLS, or
// over Unix sockets. Shows what of gRPC's cost is HTTP/2's. Each side also
// works with gRPC on the other.

#ifndef DISTBENCH_PRODUCTS_HTTP2_HTTP2_DRIVER_H_
#define DISTBENCH_PRODUCTS_HTTP2_HTTP2_DRIVER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace distbench::http2 {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class Http2Driver final : public protocol::StreamDriver {
 public:
  // The TLS context, if any, must be for ALPN's protocol kHttp2Alpn. For
  // service_address, see DriverEnvironment.
  Http2Driver(const Http2Settings& settings,
              protocol::AddressPreference preference,
              std::string service_address,
              protocol::ConnectionSecurity security = {});

  std::vector<protocol::DriverCounter> Counters() const override {
    return counters_.List();
  }

 private:
  std::unique_ptr<protocol::SocketTransport> MakeTransport() override;
  void SayHello(protocol::DialTarget& target) override;
  absl::Status Verify(absl::Span<protocol::DialTarget> targets,
                      absl::Time deadline,
                      const std::atomic<bool>& aborted) override;

  const Http2Settings settings_;
  Http2Counters counters_;
};

inline constexpr char kHttp2Alpn[] = "h2";

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_HTTP2_DRIVER_H_
