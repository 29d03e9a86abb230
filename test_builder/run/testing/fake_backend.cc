// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/testing/fake_backend.h"

#include "distbench/results/rpc_totals.h"

namespace distbench::test_builder {

TestResult FakeResult(const std::string& name, const std::string& rpc,
                      int64_t count, int64_t latency_ns) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  results::RpcTotals totals;
  totals.counts.succeeded_count = count;
  totals.counts.first_start_timestamp_ns = kSecondNs;
  totals.counts.last_end_timestamp_ns = 2 * kSecondNs;
  totals.service_time_ns.RecordN(latency_ns, count);

  TestResult result;
  result.mutable_traffic_config()->set_name(name);
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name(rpc);
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  auto& server = (*client.mutable_peer_logs())["server/0"];
  totals.Encode(*(*server.mutable_rpc_logs())[0].mutable_statistics());
  result.add_log_summary("RPC latency summary:");
  result.add_log_summary("  " + rpc);
  return result;
}

absl::Status FakeBackend::Run(const DistributedSystemDescription& test,
                              EventObserver observer,
                              TestSequenceResults& results) {
  tests_run_.push_back(test.name());
  const auto body = bodies_.find(test.name());
  if (body != bodies_.end()) return body->second(observer, results);
  *results.add_test_results() = FakeResult(test.name(), "rpc", 100, 5000);
  return absl::OkStatus();
}

}  // namespace distbench::test_builder
