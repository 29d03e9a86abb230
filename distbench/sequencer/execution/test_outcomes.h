// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How tests ended, for metrics.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_TEST_OUTCOMES_H_
#define DISTBENCH_SEQUENCER_EXECUTION_TEST_OUTCOMES_H_

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

// Thread-safe.
class TestOutcomes {
 public:
  // The last verdicts that are kept, and the codes of findings that are counted
  // by themselves: findings of nodes may have any.
  static constexpr size_t kMostObjectives = 200;
  static constexpr size_t kMostFindingCodes = 200;

  // Counts a test that has ended. The result has its findings, and its logs
  // with statistics.
  void Add(const std::string& test, const TestResult& result)
      ABSL_LOCKS_EXCLUDED(mutex_);

  std::vector<prometheus::MetricFamily> Metrics() const
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Objective {
    std::string test;
    std::string text;
    std::string verdict;
  };

  void CountFinding(const Finding& finding)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, int64_t> tests_ ABSL_GUARDED_BY(mutex_);  // by verdict

  // By severity and code.
  std::map<std::pair<std::string, std::string>, int64_t> findings_
      ABSL_GUARDED_BY(mutex_);

  // Of the last run of each test, the oldest first.
  std::deque<Objective> objectives_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_TEST_OUTCOMES_H_
