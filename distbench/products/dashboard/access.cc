// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/access.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/host_port.h"
#include "distbench/security/nonce.h"

namespace distbench::dashboard {
namespace {

constexpr size_t kTokenBytes = 16;

// Changing a note or ending a run needs the right to submit tests.
constexpr char kMethodOfChanges[] =
    "/distbench.DistBenchTestSequencer/CancelRun";

// Whether a browser says that another site's page makes this request, other
// than by a link to a page of ours.
bool IsOfOtherSite(const HttpRequest& request) {
  const std::string site = request.Header("Sec-Fetch-Site");
  if (site.empty() || site == "same-origin" || site == "none") return false;
  return request.method == "POST" ||
         request.Header("Sec-Fetch-Mode") != "navigate" ||
         request.Header("Sec-Fetch-Dest") != "document";
}

}  // namespace

AccessGuard::AccessGuard(std::vector<std::string> host_names,
                         const security::TlsFiles& tls,
                         security::AccessRules rules)
    : host_names_(std::move(host_names)),
      has_tls_(!tls.empty()),
      rules_(std::move(rules)),
      token_(tls.ca.empty() ? absl::BytesToHexString(
                                  security::DrawNonce().substr(0, kTokenBytes))
                            : "") {}

bool AccessGuard::IsOwnHost(const HttpRequest& request) const {
  const std::string header = request.Header("Host");
  // An IPv6 address without a port ends in a bracket.
  const std::string host = absl::EndsWith(header, "]")
                               ? std::string(base::WithoutBrackets(header))
                               : base::SplitHostPort(header).first;
  if (host.empty()) return false;
  const std::string& own = request.local_address;
  const bool is_loopback = absl::StartsWith(own, "127.") || own == "::1";
  if (host == own ||
      (is_loopback && absl::EqualsIgnoreCase(host, "localhost"))) {
    return true;
  }
  return std::any_of(
      host_names_.begin(), host_names_.end(),
      [&](const auto& name) { return absl::EqualsIgnoreCase(host, name); });
}

bool AccessGuard::IsOwnOrigin(const HttpRequest& request) const {
  return absl::EqualsIgnoreCase(
      request.Header("Origin"),
      absl::StrCat(has_tls_ ? "https://" : "http://", request.Header("Host")));
}

std::optional<HttpResponse> AccessGuard::Refuse(
    const HttpRequest& request) const {
  if (!IsOwnHost(request)) {
    return ErrorResponse(
        403, absl::StrCat("this server is not called ", request.Header("Host"),
                          "; use an address that it printed when it started, "
                          "or start it with --dashboard_host=NAME"));
  }
  const bool has_origin = !request.Header("Origin").empty();
  if (IsOfOtherSite(request) || (has_origin && !IsOwnOrigin(request))) {
    return ErrorResponse(403,
                         "another site's page made this request; open the "
                         "dashboard's own page instead");
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (request.method != "POST") {
    HttpResponse response = ErrorResponse(
        405, "this method is not known here; use GET, HEAD or POST");
    response.headers.emplace_back("Allow", "GET, HEAD, POST");
    return response;
  }
  if (!has_origin && request.Header("Sec-Fetch-Site") != "same-origin") {
    return ErrorResponse(
        403, "the request does not say which page made it; send an Origin");
  }
  const std::string why_not = WhyNotWrite(request);
  if (!why_not.empty()) return ErrorResponse(403, why_not);
  const std::string type = request.Header("Content-Type");
  if (!absl::EqualsIgnoreCase(type.substr(0, type.find(';')),
                              "application/json")) {
    return ErrorResponse(415, "send JSON, with Content-Type application/json");
  }
  return std::nullopt;
}

std::string AccessGuard::WhyNotWrite(const HttpRequest& request) const {
  if (token_.empty()) {
    return std::string(
        security::CheckAccess(rules_, kMethodOfChanges, request.caller_names)
            .message());
  }
  // The time does not depend on how much of it is right.
  const std::string token = request.Header(kTokenHeader);
  if (token.size() == token_.size() &&
      CRYPTO_memcmp(token.data(), token_.data(), token.size()) == 0) {
    return "";
  }
  return "changes need the token of the address that distbench printed when it "
         "started; open that address";
}

}  // namespace distbench::dashboard
