// How the tests of a run ended, and the table that says so.

#ifndef DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_
#define DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/results.pb.h"

namespace distbench {

struct TestOutcome {
  enum class Verdict {
    kOk,
    kInvalid,  // ran to its end, but its numbers are false
    kFailed,
    kNotRun,
  };

  // The RPCs that succeeded after the warm-up. Latencies are those of the
  // response where the load is an open loop, with what was never sent as a
  // lower bound; of the service otherwise.
  struct RpcFigures {
    std::string rpc;
    double per_second = 0;
    int64_t p50_ns = 0;
    int64_t p99_ns = 0;
  };

  std::string test;
  Verdict verdict = Verdict::kNotRun;

  // The result is of an earlier run.
  bool kept = false;

  // Those of which any succeeded, in the order of the config.
  std::vector<RpcFigures> rpcs;
};

// Of a test that has a result.
TestOutcome OutcomeOf(const TestResult& result);

// A row per test and RPC.
std::string OutcomeTable(absl::Span<const TestOutcome> outcomes);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_RUN_OUTCOME_H_
