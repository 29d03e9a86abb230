// The formats of a comparison. All say the same; comparison_page/ has another.

#ifndef DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_FORMATS_H_
#define DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_FORMATS_H_

#include <string>

#include "distbench/report/comparison_formats/comparison_report.h"

namespace distbench::report {

// For a terminal.
std::string ComparisonText(const ComparisonReport& report);

// Version of the schema that docs/reports.md describes. It changes with every
// change other than added fields.
inline constexpr int kComparisonSchemaVersion = 1;

// Returns valid UTF-8 that ends with a line feed.
std::string ComparisonJson(const ComparisonReport& report);

// For a comment on GitHub: short enough, and with the worst first.
std::string ComparisonMarkdown(const ComparisonReport& report);

// JUnit XML with a test case for each condition or, without conditions, for
// each metric. There are failures and errors where the exit status of `compare`
// is not 0: conditions that are not met, and runs that are not valid.
std::string ComparisonJunit(const ComparisonReport& report);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_FORMATS_COMPARISON_FORMATS_H_
