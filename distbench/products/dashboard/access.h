// Who may do what in the dashboard.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/security/authorization.h"

namespace distbench::dashboard {

// The header in which the page sends the token.
inline constexpr char kTokenHeader[] = "X-Distbench-Token";

// Returns 128 random bits in hexadecimal digits.
std::string DrawToken();

struct AccessOptions {
  // Names, besides the addresses of this host, by which clients may call the
  // server.
  std::vector<std::string> host_names;

  // Whether the server's connections have TLS, and their clients certificates.
  bool has_tls = false;
  bool has_client_certificates = false;

  // With client certificates: who may change something.
  security::AccessRules rules;

  // Without client certificates: what allows changes; not empty then.
  std::string token;
};

// Thread-safe.
class AccessGuard {
 public:
  explicit AccessGuard(AccessOptions options) : options_(std::move(options)) {}

  // Returns the answer to a request that is not allowed:
  // - by another method than GET, HEAD and POST;
  // - to a host that this server does not have. A browser sends such a request
  //   if another site's name was made to lead here (DNS rebinding);
  // - from another site's page, unless it is a link that a person follows;
  // - a POST that is not JSON, was not sent by this server's own page, or has
  //   no authorisation.
  std::optional<HttpResponse> Refuse(const HttpRequest& request) const;

  // Why the client of this request may not change anything; empty if it may.
  std::string WhyNotWrite(const HttpRequest& request) const;

 private:
  bool IsOwnHost(const HttpRequest& request) const;
  bool IsOwnOrigin(const HttpRequest& request) const;

  const AccessOptions options_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_
