// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/testing/made_runs.h"

#include <utility>

#include "distbench/report/testing/report_testing.h"

namespace distbench::report {

TestResult RunWith(results::RpcTotals totals, int64_t duration_ns) {
  totals.counts.first_start_timestamp_ns = 0;
  totals.counts.last_end_timestamp_ns = duration_ns;
  TestResult result;
  result.mutable_traffic_config()->set_name("t");
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  totals.Encode(StatisticsOf(result));
  return result;
}

RpcStatistics& StatisticsOf(TestResult& result) {
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["c/0"];
  return *(*(*client.mutable_peer_logs())["s/0"].mutable_rpc_logs())[0]
              .mutable_statistics();
}

TestResult RunOf(int64_t latency_ns, int64_t count, int64_t failed_count) {
  results::RpcTotals totals;
  totals.service_time_ns.RecordN(latency_ns, count);
  totals.counts.succeeded_count = count;
  totals.counts.failed_count = failed_count;
  return RunWith(std::move(totals));
}

std::vector<TestComparison> Compared(std::vector<TestResult> base,
                                     std::vector<TestResult> next,
                                     const CompareOptions& options) {
  const auto base_results = Sourced(std::move(base));
  const auto next_results = Sourced(std::move(next));
  return Compare(ListRuns(base_results), ListRuns(next_results), options);
}

}  // namespace distbench::report
