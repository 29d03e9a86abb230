// The files of the dashboard's page.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_PAGE_ASSETS_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_PAGE_ASSETS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::dashboard {

// A file as a server sends it. All of it lives as long as the program.
struct Asset {
  absl::string_view name;
  absl::string_view content_type;
  absl::string_view bytes;
};

// Returns all files. "index.html" is the page itself, at "/"; it loads the
// others from "/assets/NAME". It needs nothing but these and the interface
// below "/api", and contains no scripts or styles of its own, so that a server
// can forbid them. Thread-safe.
absl::Span<const Asset> DashboardAssets();

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_PAGE_ASSETS_H_
