#include "absl/strings/str_cat.h"
#include "distbench/report/comparison_formats/comparison_formats.h"

namespace distbench::report {

std::string ComparisonText(const ComparisonReport& report) {
  const Headline headline = HeadlineOf(report);
  return absl::StrCat("Result: ", headline.verdict, ". ", headline.text, "\n",
                      DescribeCapacities(report.capacities),
                      DescribeComparisons(report.tests),
                      ChecksText(report.checks));
}

}  // namespace distbench::report
