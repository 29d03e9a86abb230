// For tests: tables of results as CSV.

#ifndef DISTBENCH_REPORT_TESTING_CSV_TESTING_H_
#define DISTBENCH_REPORT_TESTING_CSV_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"
#include "distbench/report/tables/table.h"
#include "gtest/gtest.h"

namespace distbench {

inline std::string Csv(const std::vector<SourcedResults>& results,
                       const ReportTable& table) {
  std::string csv;
  RenderCsv(ListRuns(results), table,
            [&](absl::string_view bytes) { absl::StrAppend(&csv, bytes); });
  return csv;
}

inline std::vector<std::string> Lines(const std::string& csv) {
  std::vector<std::string> lines = absl::StrSplit(csv, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  return lines;
}

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TESTING_CSV_TESTING_H_
