// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Puts the results of a run together from the events that followers receive.

#ifndef DISTBENCH_RESULTS_RESULT_ASSEMBLER_H_
#define DISTBENCH_RESULTS_RESULT_ASSEMBLER_H_

#include <set>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Not thread-safe.
class ResultAssembler {
 public:
  // `results` must outlive this. They are in the order of the run's tests.
  // Until a test has ended, its result, which may be empty, is that of a failed
  // one.
  ResultAssembler(int test_count, TestSequenceResults& results)
      : test_count_(test_count), results_(results) {}

  // Takes what an event has of a result; pieces are moved out of it. INTERNAL
  // if the run has no such test, INVALID_ARGUMENT if a piece is invalid.
  absl::Status Add(RunTestsEvent& event);

  // Call this when no more events can come: tests that have not ended have
  // failed for this reason.
  void MarkIncomplete(absl::string_view reason);

 private:
  TestResult& Result(int index);

  const int test_count_;
  TestSequenceResults& results_;
  std::set<int> incomplete_;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RESULT_ASSEMBLER_H_
