#include "distbench/products/dashboard/http/http_message.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

}  // namespace distbench::dashboard
