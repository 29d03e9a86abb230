// Addresses as users and peers write them.

#ifndef DISTBENCH_BASE_HOST_PORT_H_
#define DISTBENCH_BASE_HOST_PORT_H_

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench {

// "node7" of "[node7]"; others as they are.
inline absl::string_view WithoutBrackets(absl::string_view host) {
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

// "1.2.3.4:567" or "[1::2]:567"; names as they are.
inline std::string JoinHostPort(absl::string_view host, int port) {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

// The host, without brackets, and the port of "HOST:PORT" or "[HOST]:PORT"; the
// port is empty if there is none.
inline std::pair<std::string, std::string> SplitHostPort(
    absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {std::string(address), ""};
  return {std::string(WithoutBrackets(address.substr(0, colon))),
          std::string(address.substr(colon + 1))};
}

}  // namespace distbench

#endif  // DISTBENCH_BASE_HOST_PORT_H_
