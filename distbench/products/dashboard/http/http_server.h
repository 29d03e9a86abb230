// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A small HTTP/1.1 server that no client can occupy.
//
// One thread reads requests and writes responses of all connections, so that a
// slow client costs a socket and no thread. Handlers run on other threads, once
// a request has arrived as a whole.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_SERVER_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/security/tls_session.h"

namespace distbench::dashboard {

// What connections may take. Requests beyond these limits are answered with an
// error that says so (400, 413, 431, 503), or their connection is closed.
struct HttpLimits {
  int64_t header_bytes = 16 * 1024;
  int64_t body_bytes = 64 * 1024;

  // Open connections; beyond that, the one that has been waiting for a request
  // for the longest time is closed.
  int connections = 256;

  // Streams of events at a time.
  int event_streams = 8;

  // Requests that wait for a thread or have one: instant ones, and as many
  // ordinary ones; slow ones.
  int waiting_requests = 64;
  int waiting_slow_requests = 32;

  // Responses that are being sent, in total. Beyond that, large ones (more than
  // 64 KiB) are refused.
  int64_t response_bytes = int64_t{256} << 20;

  // From the end of one request, or of the handshake, to the end of the next.
  absl::Duration request_time = absl::Seconds(10);
  absl::Duration handshake_time = absl::Seconds(10);

  absl::Duration response_time = absl::Seconds(60);
  absl::Duration event_time = absl::Seconds(10);

  // Between two looks for new events, and from the last event to a comment,
  // which shows clients that the connection lives.
  absl::Duration event_interval = absl::Seconds(1);
  absl::Duration heartbeat_interval = absl::Seconds(10);
};

// How long an answer takes. Requests of a kind have two threads of their own,
// so that they do not delay those of another.
enum class HttpLane {
  kInstant,  // waits for nothing
  kOrdinary,
  kSlow,
};

// Answers requests. Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Which threads answer. Must return at once.
  virtual HttpLane LaneOf(const HttpRequest& request) const = 0;

  virtual HttpResponse Answer(const HttpRequest& request) = 0;
};

struct HttpServerOptions {
  // As ListenAddresses() takes it.
  std::string listen_address;

  // 0 picks a free port.
  int port = 0;

  // Null: no TLS.
  std::shared_ptr<security::TlsContext> tls;

  HttpLimits limits = {};
};

// Ends with the object: closes all connections, and waits only for handlers
// that are at work.
class HttpServer {
 public:
  // Listens. The handler must outlive the server. The error says what is wrong
  // with the address, or that the port is in use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      HttpServerOptions options, HttpHandler& handler);

  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_SERVER_H_
