// For tests: tables of results as CSV.

#ifndef DISTBENCH_REPORT_TESTING_CSV_TESTING_H_
#define DISTBENCH_REPORT_TESTING_CSV_TESTING_H_

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"
#include "distbench/report/tables/table.h"
#include "gtest/gtest.h"

namespace distbench::report {

inline std::string Csv(const std::vector<SourcedResults>& results,
                       const ReportTable& table) {
  std::string csv;
  RenderCsv(ListRuns(results), table,
            [&](absl::string_view bytes) { absl::StrAppend(&csv, bytes); });
  return csv;
}

// The lines without the last column, which all tables have, and which says of
// real results that these are not simulated.
inline std::vector<std::string> Lines(const std::string& csv) {
  std::vector<std::string> lines = absl::StrSplit(csv, '\n');
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  for (std::string& line : lines) {
    const absl::string_view last = &line == &lines[0] ? ",simulated" : ",0";
    EXPECT_TRUE(absl::EndsWith(line, last)) << line;
    line.resize(line.size() - last.size());
  }
  return lines;
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_CSV_TESTING_H_
