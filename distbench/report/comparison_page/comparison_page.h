// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Renders a comparison as an HTML page.

#ifndef DISTBENCH_REPORT_COMPARISON_PAGE_COMPARISON_PAGE_H_
#define DISTBENCH_REPORT_COMPARISON_PAGE_COMPARISON_PAGE_H_

#include <string>

#include "distbench/report/comparison_formats/comparison_report.h"

namespace distbench::report {

// Returns a self-contained HTML file that needs neither a network nor other
// files. It contains the document of ComparisonJson(), that of RenderJson()
// with the runs of base and then of new, limited to what the page shows, and
// the scripts that draw them. Names and messages in results are always shown as
// text, never interpreted as markup.
std::string RenderComparisonPage(const ComparisonReport& report);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_PAGE_COMPARISON_PAGE_H_
