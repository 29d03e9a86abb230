// Runs that belong together.

#ifndef DISTBENCH_REPORT_COMPARISON_RUN_GROUPS_H_
#define DISTBENCH_REPORT_COMPARISON_RUN_GROUPS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {

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

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_RUN_GROUPS_H_
