// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/prometheus_url.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "distbench/base/host_port.h"
#include "distbench/base/text_scanner.h"

namespace distbench::server_metrics {
namespace {

constexpr char kDefaultPort[] = "80";

absl::Status Wrong(absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(problem, "; write it like http://prometheus.example:9090"));
}

bool IsOfUrl(char c) {
  return absl::ascii_isgraph(c) && c != '"' && c != '<' && c != '>';
}

// Whether the end of "[::1]" or "host" is where a port would begin.
bool HasPort(absl::string_view authority) {
  return absl::StrContains(authority, ':') && !absl::EndsWith(authority, "]");
}

}  // namespace

absl::StatusOr<PrometheusUrl> ParsePrometheusUrl(absl::string_view url) {
  if (absl::StartsWith(url, "https://")) {
    return Wrong(
        "uses https, which distbench does not speak with a Prometheus; read "
        "it on a node that reaches it by http, or by a command of that node");
  }
  if (!absl::ConsumePrefix(&url, "http://")) {
    return Wrong("does not begin with http://");
  }
  if (!absl::c_all_of(url, IsOfUrl)) {
    return Wrong("has characters that no URL has");
  }
  if (absl::StrContains(url, '?') || absl::StrContains(url, '#')) {
    return Wrong("has a query; give the address of the Prometheus alone");
  }
  const absl::string_view authority = url.substr(0, url.find('/'));
  if (absl::StrContains(authority, '@')) {
    return Wrong("has a name or a password, which results would show");
  }
  PrometheusUrl parsed;
  if (HasPort(authority)) {
    std::tie(parsed.host, parsed.port) = base::SplitHostPort(authority);
  } else {
    parsed.host = std::string(base::WithoutBrackets(authority));
    parsed.port = kDefaultPort;
  }
  if (parsed.host.empty()) return Wrong("has no host");
  const auto port = base::ParseWhole(parsed.port, base::kMaxPort);
  if (!port || *port == 0) return Wrong("has no port from 1 to 65535");
  parsed.prefix =
      std::string(absl::StripSuffix(url.substr(authority.size()), "/"));
  return parsed;
}

std::string QueryTarget(const PrometheusUrl& url, absl::string_view query,
                        int64_t timeout_ms) {
  std::string target = absl::StrCat(
      url.prefix, "/api/v1/query?timeout=", timeout_ms, "ms&query=");
  for (const char c : query) {
    if (absl::ascii_isalnum(c)) {
      target += c;
    } else {
      absl::StrAppendFormat(&target, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return target;
}

}  // namespace distbench::server_metrics
