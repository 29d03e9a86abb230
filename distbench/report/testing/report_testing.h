// Helpers shared by tests of reports.

#ifndef DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_
#define DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_

#include <string>
#include <utility>
#include <vector>

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

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TESTING_REPORT_TESTING_H_
