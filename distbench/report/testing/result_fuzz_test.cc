// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A result file with any content must be rejected, or all reports must render.

#include <cstdint>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/result_fuzz_entry.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

constexpr int kRounds = 1000;
constexpr int kMaxMutations = 4;

void AddActivity(ActivityLog& log) {
  ActivityMetric& metric = *log.add_activity_metrics();
  metric.set_name("failed_operations");
  metric.set_value_int(3);
  log.mutable_series()->set_interval_ns(1'000'000'000);
  for (const int64_t index : {1'700'000'000, 1'700'000'001}) {
    ActivityInterval& interval = *log.mutable_series()->add_intervals();
    interval.set_index(index);
    interval.set_completed_count(2);
    interval.set_output_bytes(4096);
    stats::LogHistogram latency_ns;
    latency_ns.Record(50'000);
    results::EncodeHistogram(latency_ns, *interval.mutable_read_ns());
  }
}

TestSequenceResults SmallResults() {
  TestSequenceResults results;
  TestResult& result = *results.add_test_results();
  result = MakeExampleResult(
      {.clients = 1, .servers = 1, .rpcs = 1, .seconds = 2, .count = 5});
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  AddActivity((*log.mutable_activity_logs())["store"]);
  return results;
}

TEST(ResultFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : fuzzing::KeptCorpus("result"))
    ReadAndReport(bytes);
}

TEST(ResultFuzzTest, SurvivesMutatedResults) {
  const TestSequenceResults original = SmallResults();
  fuzzing::MessageMutator mutator(1, {"client/0", "server/0", "node0"});
  int readable = 0;
  for (int round = 0; round < kRounds; ++round) {
    TestSequenceResults results = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(results);
    readable += ReadAndReport(results.SerializePartialAsString());
  }
  // Otherwise only reading would be tested.
  EXPECT_GT(readable, kRounds / 2);
}

TEST(ResultFuzzTest, SurvivesMutatedBytes) {
  const std::string original = SmallResults().SerializeAsString();
  fuzzing::MessageMutator mutator(2);
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = original;
    for (int i = 0; i <= round % kMaxMutations; ++i) mutator.Mutate(bytes);
    ReadAndReport(bytes);
  }
}

}  // namespace
}  // namespace distbench::report
