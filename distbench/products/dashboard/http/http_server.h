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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/security/tls_session.h"

namespace distbench::dashboard {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // such as "GET"

  // As sent, such as "/results/0-0.json". Nothing is decoded in paths, because
  // no path of ours needs it.
  std::string path;

  // Those of the query, decoded.
  std::multimap<std::string, std::string> parameters;
  HttpHeaders headers;
  std::string body;

  // The address of this host that the client has connected to, such as
  // "127.0.0.1" or "::1".
  std::string local_address;

  // The names in the client's certificate, whose signature was checked; empty
  // without one.
  std::vector<std::string> caller_names;

  // The value of a parameter; empty if there is none.
  std::string Parameter(const std::string& name) const;

  // The value of a header, whose name's case does not matter; empty if there is
  // none. If it was sent several times, that is no value that could be right:
  // the values joined by commas.
  std::string Header(absl::string_view name) const;
};

// Takes the path and the parameters from "PATH?NAME=VALUE&...".
// INVALID_ARGUMENT if it does not begin with "/", or if an escape in the query
// is wrong or stands for a control character.
absl::Status SetTarget(absl::string_view target, HttpRequest& request);

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";

  // Others than the server's own: content type and length, and those of
  // ProtectiveHeaders() that are not named here. A value contains no line
  // breaks.
  HttpHeaders headers = {};
  std::string body = {};

  // Makes it a stream of events, which begins with the body: the connection
  // stays open, and events are sent as long as the client reads. Returns the
  // newest event about each of some subjects, always in the same order. It is
  // asked about once a second, by the threads of HttpLane::kInstant; an event
  // is sent if it is another object than the last one about its subject. A slow
  // client misses all but the newest.
  using Event = std::shared_ptr<const std::string>;
  std::function<std::vector<Event>()> newest_events = nullptr;
};

// What every response says unless it says otherwise: it runs nothing, is not
// embedded elsewhere, is not kept, is what its content type says.
const HttpHeaders& ProtectiveHeaders();

// {"error": message}.
HttpResponse ErrorResponse(int status, absl::string_view message);

// What connections may take. Requests beyond these limits are answered with an
// error that says so (400, 413, 431, 503), or their connection is closed.
struct HttpLimits {
  int64_t header_bytes = 16 * 1024;
  int64_t body_bytes = 64 * 1024;

  // Open connections; beyond that, the one that has been waiting for a request
  // for the longest time is closed.
  int connections = 256;
  int event_streams = 8;

  // Requests that wait for a thread or have one: instant ones, and as many
  // ordinary ones; slow ones.
  int waiting_requests = 64;
  int waiting_slow_requests = 32;

  // Responses that are being sent, in total. Beyond that, large ones (more than
  // 64 KiB) are refused.
  int64_t response_bytes = int64_t{256} << 20;

  // For a handshake, for a request from the end of the one before, and for an
  // event to be read.
  absl::Duration request_time = absl::Seconds(10);
  absl::Duration response_time = absl::Seconds(60);

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

  // Returns the answer to a request that is not allowed, from its headers
  // alone: the target may be wrong, which those must not learn who may not ask.
  // Must return at once.
  virtual std::optional<HttpResponse> Refuse(
      const HttpRequest& request) const = 0;

  // The others are only called for requests that were not refused.

  // Which threads answer. Must return at once.
  virtual HttpLane LaneOf(const HttpRequest& request) const = 0;

  virtual HttpResponse Answer(const HttpRequest& request) = 0;
};

// Ends with the object: closes all connections, and waits only for handlers
// that are at work.
class HttpServer {
 public:
  // Listens at an address as ListenAddresses() takes it; port 0 picks a free
  // one, and no `tls` is none. The handler must outlive the server. The error
  // says what is wrong with the address, or that the port is in use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& listen_address, int port,
      std::shared_ptr<security::TlsContext> tls, HttpHandler& handler,
      const HttpLimits& limits = {});

  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_SERVER_H_
