#ifndef DISTBENCH_PRODUCTS_DASHBOARD_PAGE_POLICY_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_PAGE_POLICY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace distbench::dashboard {

// The Content-Security-Policy for a self-contained page of ours: a browser runs
// and applies its own scripts and styles, known by their SHA-256, and nothing
// else. Documents of data in script elements are no scripts. The page should
// contain nothing of others yet, because its scripts would be known, too.
std::string PolicyOf(absl::string_view page);

// The policy of pages whose scripts and styles are files of this server.
inline constexpr char kOwnFilesPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
    "'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_PAGE_POLICY_H_
