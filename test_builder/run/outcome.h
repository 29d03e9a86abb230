// Outcomes of tests, and a table of them.

#ifndef DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_
#define DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/verdicts/check.h"
#include "proto/results.pb.h"

namespace distbench::test_builder {

struct TestOutcome {
  enum class Verdict {
    kOk,
    kWarn,     // its numbers may mislead
    kInvalid,  // completed, but its numbers are false
    kFailed,
    kNotRun,
  };

  // Figures of what was measured after the warm-up, as reports have them.
  // Latencies are response times in open loops and service times otherwise.
  struct RpcFigures {
    std::string rpc;
    double per_second = 0;
    int64_t p50_ns = 0;
    int64_t p99_ns = 0;
  };

  std::string test;
  Verdict verdict = Verdict::kNotRun;

  // The result comes from an earlier run.
  bool kept = false;

  // RPCs of which any succeeded, in the order of the config.
  std::vector<RpcFigures> rpcs;

  // The verdicts on the objectives.
  std::vector<report::Check> objectives;
};

// The outcome of a test that has a result. `objectives` are judged in addition
// to those of the test.
TestOutcome OutcomeOf(const TestResult& result,
                      absl::Span<const std::string> objectives = {});

// Formats a table with a row per test and RPC.
std::string OutcomeTable(absl::Span<const TestOutcome> outcomes);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_
