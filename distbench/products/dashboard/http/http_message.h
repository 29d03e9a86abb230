// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Requests and responses of HTTP, as handlers see them.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_MESSAGE_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::dashboard {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // such as "GET"

  // Path and query as the client sent them; see SplitTarget().
  std::string target;
  HttpHeaders headers;
  std::string body;

  // The address of this host that the client has connected to, such as
  // "127.0.0.1" or "::1".
  std::string local_address;

  // The names in the client's certificate, whose signature was checked; empty
  // without one.
  std::vector<std::string> caller_names;

  // The value of a header, whose name's case does not matter; empty if there is
  // none. If it was sent several times, that is no value that could be right:
  // the values joined by commas.
  std::string Header(absl::string_view name) const;
};

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

// The target of a request: its path and the parameters of its query.

struct Target {
  // As sent, such as "/results/0-0.json". Nothing is decoded in paths, because
  // no path of ours needs it.
  std::string path;

  // Decoded, in the order in which they were sent.
  std::multimap<std::string, std::string> parameters;

  // The value of a parameter; empty if there is none.
  std::string Parameter(const std::string& name) const;
};

// Splits "PATH?NAME=VALUE&...". INVALID_ARGUMENT if it does not begin with "/",
// or if an escape in the query is wrong or stands for a control character.
absl::StatusOr<Target> SplitTarget(absl::string_view target);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_HTTP_MESSAGE_H_
