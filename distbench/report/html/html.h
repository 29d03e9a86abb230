// Runs as a page that people look at.

#ifndef DISTBENCH_REPORT_HTML_HTML_H_
#define DISTBENCH_REPORT_HTML_HTML_H_

#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// One HTML file that needs nothing else: no network, no other file. It holds
// the document of RenderJson(), with limits that keep it within what a browser
// shows well, and the scripts that draw it. Whatever names and messages a
// result has, they are shown as text.
std::string RenderHtml(absl::Span<const TestRun> runs,
                       absl::Span<const SourcedSearch> searches = {});

}  // namespace distbench

#endif  // DISTBENCH_REPORT_HTML_HTML_H_
