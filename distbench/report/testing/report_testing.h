// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Helpers shared by tests of reports.

#ifndef DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_
#define DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/measurements/test_run.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {

inline TestResult ResultFromText(const std::string& text) {
  TestResult result;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &result));
  return result;
}

// Results of a single source, called "file.pb".
inline std::vector<SourcedResults> Sourced(std::vector<TestResult> tests) {
  std::vector<SourcedResults> sourced(1);
  sourced[0].source = "file.pb";
  for (TestResult& test : tests) {
    *sourced[0].results.add_test_results() = std::move(test);
  }
  return sourced;
}

// Names and messages that could be markup, or could end a cell or a line.
inline constexpr char kHostileName[] =
    R"name(</script><img src=x onerror="alert(1)">, "q"
second line)name";

// For tests: tables of results as CSV.

inline std::string Csv(const std::vector<SourcedResults>& results,
                       absl::string_view table) {
  std::string csv;
  RenderCsv(ListRuns(results), TableNamed(table),
            [&](absl::string_view bytes) { absl::StrAppend(&csv, bytes); });
  return csv;
}

// The lines without the last column, which all tables have, and which says of
// real results that these are not simulated.
inline std::vector<std::string> CsvLines(const std::string& csv) {
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

// Helpers shared by tests of the text summary.

// The statistics of one RPC between two instances; created if missing.
inline RpcStatistics& StatisticsOf(TestResult& result,
                                   const std::string& client,
                                   const std::string& server, int rpc_index) {
  auto& instances = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *instances[client].mutable_peer_logs();
  auto& rpcs = *peers[server].mutable_rpc_logs();
  return *rpcs[rpc_index].mutable_statistics();
}

using Lines = std::vector<std::string>;

// The lines of one section, without its title.
inline Lines Section(const Lines& lines, absl::string_view title) {
  Lines section;
  bool inside = false;
  for (const std::string& line : lines) {
    if (line[0] != ' ') {
      inside = line == absl::StrCat(title, ":");
    } else if (inside) {
      section.push_back(line);
    }
  }
  return section;
}

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_
