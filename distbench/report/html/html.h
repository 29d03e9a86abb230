// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Renders runs as an HTML report.

#ifndef DISTBENCH_REPORT_HTML_HTML_H_
#define DISTBENCH_REPORT_HTML_HTML_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// The frame that pages of HTML share.

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

// Returns a self-contained HTML file that needs neither a network nor other
// files. It contains the document of RenderJson(), limited to what a browser
// shows well, and the scripts that draw it. Names and messages in a result are
// always shown as text, never interpreted as markup.
std::string RenderHtml(const ReportInput& input);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_HTML_HTML_H_
