// What reports and comparisons are made of: the runs of tests in result files.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/results.pb.h"

namespace distbench {

// Results and where they come from, such as a file's name. All RPC logs have
// statistics: see results/statistics_from_samples.h.
struct SourcedResults {
  std::string source;
  TestSequenceResults results;
};

// One run of one test.
struct TestRun {
  std::string source;

  // As in its config; "tests[INDEX]" if it has none.
  std::string name;
  int repetition = 0;

  // Into the results that the run was listed from, and those themselves.
  const TestResult* result = nullptr;
  const TestSequenceResults* sequence = nullptr;
};

// One search, into the results that it was listed from.
struct SourcedSearch {
  std::string source;
  const SearchReport* report = nullptr;
};

// In the order of the results.
std::vector<SourcedSearch> ListSearches(
    absl::Span<const SourcedResults> results);

// In the order of the results.
std::vector<TestRun> ListRuns(absl::Span<const SourcedResults> results);

// The positions of the RPCs that the run's config names or that it has logs of,
// ascending. RpcName() gives their names.
std::vector<int> ListRpcs(const TestResult& result);

// What a report says of a run in one word, the worst that applies: "failed" (it
// did not run to its end), "invalid", "warn" or "ok".
std::string RunVerdict(const TestResult& result);

// "invalid", "warn" or "note".
std::string SeverityName(Finding::Severity severity);

// Of the run, the worst first.
std::vector<Finding> FindingsBySeverity(const TestResult& result);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_
