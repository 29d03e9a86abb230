// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/http/http_message.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/json.h"

namespace distbench::dashboard {

std::string HttpRequest::Header(absl::string_view name) const {
  std::string found;
  for (const auto& [header, value] : headers) {
    if (!absl::EqualsIgnoreCase(header, name)) continue;
    absl::StrAppend(&found, found.empty() ? "" : ",", value);
  }
  return found;
}

const HttpHeaders& ProtectiveHeaders() {
  static const auto* const headers = new HttpHeaders{
      {"Content-Security-Policy",
       "default-src 'none'; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return *headers;
}

HttpResponse ErrorResponse(int status, absl::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = base::DumpJson({{"error", std::string(message)}}) + "\n";
  return response;
}

namespace {

// Decodes "%41" and "+" of a query.
absl::StatusOr<std::string> Decode(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char byte = text[i] == '+' ? ' ' : text[i];
    if (byte == '%') {
      if (text.size() - i < 3 || !absl::ascii_isxdigit(text[i + 1]) ||
          !absl::ascii_isxdigit(text[i + 2])) {
        return absl::InvalidArgumentError(
            "the query has a % without two hexadecimal digits; write %25 for "
            "the character itself");
      }
      byte = absl::HexStringToBytes(text.substr(i + 1, 2))[0];
      i += 2;
    }
    if (absl::ascii_iscntrl(byte)) {
      return absl::InvalidArgumentError(
          "the query contains a control character; leave it out");
    }
    decoded.push_back(byte);
  }
  return decoded;
}

}  // namespace

absl::StatusOr<Target> SplitTarget(absl::string_view target) {
  if (!absl::StartsWith(target, "/")) {
    return absl::InvalidArgumentError(
        "the request does not name a path, such as /api/results");
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  Target split;
  split.path = std::string(parts.first);
  for (absl::string_view parameter :
       absl::StrSplit(parts.second, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(parameter, absl::MaxSplits('=', 1));
    absl::StatusOr<std::string> name = Decode(pair.first);
    if (!name.ok()) return name.status();
    absl::StatusOr<std::string> value = Decode(pair.second);
    if (!value.ok()) return value.status();
    split.parameters.emplace(*std::move(name), *std::move(value));
  }
  return split;
}

std::string Target::Parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

}  // namespace distbench::dashboard
