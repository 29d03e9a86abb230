#include "distbench/products/dashboard/page/assets.h"

#include "distbench/products/dashboard/page/page_files.h"

namespace distbench::dashboard {

absl::Span<const Asset> DashboardAssets() {
  static const Asset kAssets[] = {
      {"index.html", "text/html; charset=utf-8", kIndexHtml},
      {"dashboard.css", "text/css; charset=utf-8", kDashboardCss},
      {"dashboard.js", "text/javascript; charset=utf-8", kDashboardJs},
      {"library.js", "text/javascript; charset=utf-8", kLibraryJs},
  };
  return kAssets;
}

}  // namespace distbench::dashboard
