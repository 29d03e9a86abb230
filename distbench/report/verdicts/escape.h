// Writes texts from outside, such as names, into documents.

#ifndef DISTBENCH_REPORT_VERDICTS_ESCAPE_H_
#define DISTBENCH_REPORT_VERDICTS_ESCAPE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::report {

// The text for a cell of a Markdown table, on one line. GitHub shows it as it
// is: neither formatted nor as links, mentions or references.
std::string MarkdownText(absl::string_view text);

// A table of such cells, whose first row are the titles.
std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows);

// The text for an attribute or the content of an XML element.
std::string XmlText(absl::string_view text);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_VERDICTS_ESCAPE_H_
