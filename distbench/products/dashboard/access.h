// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Who may do what in the dashboard.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::dashboard {

// The header in which the page sends the token.
inline constexpr char kTokenHeader[] = "X-Distbench-Token";

// Thread-safe.
class AccessGuard {
 public:
  // Clients may call the server by these names, and by the addresses of this
  // host. `rules` say who may change something, if clients need certificates;
  // otherwise those may who know the token.
  AccessGuard(std::vector<std::string> host_names,
              const security::TlsFiles& tls, security::AccessRules rules);

  // 128 random bits in hexadecimal digits; empty if clients have certificates.
  const std::string& token() const { return token_; }

  // Returns the answer to a request that is not allowed, which it learns before
  // anything else about the request:
  // - to a host that this server does not have. A browser sends such a request
  //   if another site's name was made to lead here (DNS rebinding);
  // - from another site's page, unless it is a link that a person follows;
  // - by another method than GET, HEAD and POST;
  // - a POST that was not sent by this server's own page, has no authorisation,
  //   or is not JSON.
  std::optional<HttpResponse> Refuse(const HttpRequest& request) const;

  // Why the client of this request may not change anything; empty if it may.
  std::string WhyNotWrite(const HttpRequest& request) const;

 private:
  bool IsOwnHost(const HttpRequest& request) const;
  bool IsOwnOrigin(const HttpRequest& request) const;

  const std::vector<std::string> host_names_;
  const bool has_tls_;
  const security::AccessRules rules_;
  const std::string token_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_ACCESS_H_
