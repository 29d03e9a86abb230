// The frame that pages of HTML share.

#ifndef DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_
#define DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::report {

// A JSON document that the page's scripts find by the id of its element.
struct PageData {
  absl::string_view id;
  absl::string_view json;
};

// What distinguishes a page. Names and texts of results belong into `data`: all
// else is inserted as it is.
struct Page {
  absl::string_view title;
  absl::string_view style;
  absl::string_view body;
  std::vector<PageData> data;
  absl::string_view script;
};

// Returns a page that needs no other file: the parts, and Chart.js.
std::string RenderPage(const Page& page);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_HTML_PAGE_TEMPLATE_H_
