// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The inputs of reports and comparisons: runs of tests in result files.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Results and their source, such as a file name. All RPC logs have statistics
// (see results/legacy_results.h).
struct SourcedResults {
  std::string source;
  TestSequenceResults results;
};

// One run of one test.
struct TestRun {
  std::string source;

  // From the config; "tests[INDEX]" if the test has no name.
  std::string name;
  int repetition = 0;

  // Pointers into the results from which the run was listed.
  const TestResult* result = nullptr;
  const TestSequenceResults* sequence = nullptr;
};

// What lists of runs, the HTML page's too, put after the name of a test: " #2"
// for its first repetition; nothing for its first run.
std::string RunNumber(const TestRun& run);

// In the order of the results.
std::vector<TestRun> ListRuns(absl::Span<const SourcedResults> results);

// The runs with one key, at least one.
struct RunGroup {
  std::string key;
  std::vector<TestRun> runs;
};

// Groups runs by a key, such as the name of the test. Keys and the runs of each
// are in order of appearance.
std::vector<RunGroup> GroupRuns(
    absl::Span<const TestRun> runs,
    const std::function<std::string(const TestRun&)>& key_of);

// What a report is about.
struct ReportInput {
  // The runs to show.
  std::vector<TestRun> runs;

  // The whole results, with what products keep in them beside the runs. Empty
  // if only the runs are shown.
  absl::Span<const SourcedResults> results = {};
};

// All that is in the results, which must outlive the input.
ReportInput InputOf(absl::Span<const SourcedResults> results);

// Positions of the RPCs that the run's config defines or that it has logs of,
// ascending. RpcName() returns their names.
std::vector<int> ListRpcs(const TestResult& result);

// Returns "invalid", "warn" or "note".
std::string SeverityName(Finding::Severity severity);

// The run's findings, the worst first, and before them one on logs that the
// totals leave out because they are damaged. The totals are the result's.
std::vector<Finding> FindingsOf(const TestResult& result,
                                const TestTotals& totals);

// Whether each host may have a finding with this code, and its nodes the same,
// so that people want the worst one only.
bool IsOfEachHost(absl::string_view code);

// Findings of the same severity and code, which people read together.
struct FindingKind {
  Finding::Severity severity;
  std::string code;
  std::vector<std::string> messages;
  std::string advice;  // empty if there is none
};

// Keeps the order. Of kinds that each host may have, there is one message: the
// first, which is of the worst, and how many there are.
std::vector<FindingKind> KindsOf(absl::Span<const Finding> findings);

// Stands for further findings of a kind, of which there are too many.
Finding MoreFindings(Finding::Severity severity, const std::string& code,
                     int count);

// What kind of hosts ran a test, which its result says. Nothing of simulated
// runs was measured, so every format of reports has the mark, in programs that
// cannot simulate, too.

inline bool IsSimulated(const TestResult& result) {
  return result.has_simulation();
}

// The name of a test as lists show it: followed by the mark if it is simulated.
inline constexpr char kSimulatedMark[] = " (simulated)";
std::string MarkedName(const std::string& name, const TestResult& result);

// kRealOrigin, "simulated" or "real and simulated".
inline constexpr char kRealOrigin[] = "real";
std::string OriginOf(absl::Span<const TestRun> runs);

// Whether some of the runs are simulated and others are not: what is added up
// over them would be neither.
bool MixesOrigins(absl::Span<const TestRun> runs);

// Whether one real run is the other, or a copy of it.
bool IsSameRun(const TestRun& one, const TestRun& other);

// Why runs that agree say nothing, as the end of a sentence about them: one is
// a copy of another, or they were simulated with the same seed. Empty if they
// are several.
std::string WhyCopies(absl::Span<const TestRun> runs);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TEST_RUN_H_
