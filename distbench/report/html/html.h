// Renders runs as an HTML report.

#ifndef DISTBENCH_REPORT_HTML_HTML_H_
#define DISTBENCH_REPORT_HTML_HTML_H_

#include <string>

#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

// Returns a self-contained HTML file that needs neither a network nor other
// files. It contains the document of RenderJson(), limited to what a browser
// shows well, and the scripts that draw it. Names and messages in a result are
// always shown as text, never interpreted as markup.
std::string RenderHtml(const ReportInput& input);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_HTML_HTML_H_
