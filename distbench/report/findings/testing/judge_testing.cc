// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/findings/testing/judge_testing.h"

#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/report/findings/findings.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"

namespace distbench::report {
namespace {

constexpr char kResult[] = R"pb(
  traffic_config {
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { open_loop_interval_ns: 10000000 }
    }
  }
  placement {
    service_endpoints {
      key: "client/0"
      value { node_alias: "node0" }
    }
  }
  resource_usage_logs {
    node_resources {
      key: "node0"
      value { host { hostname: "h" online_cpu_count: 4 } }
    }
  }
)pb";

}  // namespace

Histogram Repeated(int64_t value, int64_t count) {
  stats::LogHistogram histogram;
  histogram.RecordN(value, count);
  Histogram proto;
  results::EncodeHistogram(histogram, proto);
  return proto;
}

JudgeTest::JudgeTest() : result_(base::FromText<TestResult>(kResult)) {
  Load().set_offered_count(3000);
  Statistics().set_succeeded_count(3000);
  *Statistics().mutable_service_time_ns() = Repeated(1'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(1'010'000, 3000);
  *Statistics().mutable_lateness_ns() = Repeated(10'000, 3000);
  RpcTimeSeries& series = Series();
  series.set_interval_ns(base::kNsPerSecond);
  for (int i = 0; i < kJudgedSeconds; ++i) {
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(kJudgedFirstSecond + i);
    interval.set_offered_count(100);
    interval.set_sent_count(100);
    interval.set_succeeded_count(100);
    // The median varies a little, as in reality.
    *interval.mutable_service_time_ns() =
        Repeated(1'000'000 + 20'000 * (i % 3), 100);
    ResourceSample& sample = *Resources().add_samples();
    sample.set_duration_ns(base::kNsPerSecond);
    sample.set_host_cpu_ns(2 * base::kNsPerSecond);
    sample.set_process_cpu_ns(2 * base::kNsPerSecond - base::kNsPerSecond / 2);
  }
}

ServicePerformanceLog& JudgeTest::Log() {
  return (*result_.mutable_service_logs()->mutable_instance_logs())["client/0"];
}

OfferedLoad& JudgeTest::Load() { return (*Log().mutable_offered_loads())[0]; }

RpcTimeSeries& JudgeTest::Series() {
  return (*Log().mutable_rpc_time_series())[0];
}

RpcStatistics& JudgeTest::Statistics() {
  return *(*(*Log().mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
              .mutable_statistics();
}

Iterations& JudgeTest::Loop() {
  return *result_.mutable_traffic_config()
              ->mutable_actions(0)
              ->mutable_iterations();
}

NodeResources& JudgeTest::Resources() {
  return (*result_.mutable_resource_usage_logs()
               ->mutable_node_resources())["node0"];
}

HostCounters& JudgeTest::Counters() {
  return *Resources().mutable_samples(0)->mutable_host_counters();
}

void JudgeTest::CloseLoop() {
  Loop().clear_open_loop_interval_ns();
  Log().clear_offered_loads();
  Statistics().clear_lateness_ns();
  Statistics().clear_response_time_ns();
  for (RpcInterval& interval : *Series().mutable_intervals()) {
    interval.clear_offered_count();
  }
}

void JudgeTest::SendPerSecond(const std::function<int64_t(int)>& count) {
  for (int i = 0; i < kJudgedSeconds; ++i) {
    Series().mutable_intervals(i)->set_sent_count(count(i));
  }
}

void JudgeTest::WidenIntervals() {
  Series().set_interval_ns(4 * base::kNsPerSecond);
  SendPerSecond([](int) { return 400; });
}

void JudgeTest::SlowestTakes(int64_t response_time_ns) {
  stats::LogHistogram times;
  times.RecordN(1'010'000, 2999);
  times.Record(response_time_ns);
  results::EncodeHistogram(times, *Statistics().mutable_response_time_ns());
}

void JudgeTest::UseCpus(int64_t host_ns, int64_t process_ns) {
  for (ResourceSample& sample : *Resources().mutable_samples()) {
    sample.set_host_cpu_ns(host_ns);
    sample.set_process_cpu_ns(process_ns);
  }
}

void JudgeTest::ClockFor(const std::string& node, int64_t error_ns) {
  (*result_.mutable_run_info()->mutable_clock_offsets())[node].set_error_ns(
      error_ns);
}

void JudgeTest::ExpectNothing() {
  const std::vector<Finding> findings = Judge(result_);
  for (const Finding& finding : findings) {
    ADD_FAILURE() << finding.ShortDebugString();
  }
}

std::string JudgeTest::ExpectOne(Finding::Severity severity,
                                 absl::string_view code) {
  const std::vector<Finding> findings = Judge(result_);
  EXPECT_THAT(findings, ::testing::SizeIs(1));
  if (findings.size() != 1) return "";
  EXPECT_EQ(findings[0].code(), std::string(code));
  EXPECT_EQ(findings[0].severity(), severity) << findings[0].message();
  EXPECT_NE(findings[0].advice(), "") << code;
  // Judged again, it is still one: its code is known to be of Judge().
  TestResult again = result_;
  for (int i = 0; i < 2; ++i) JudgeAgain(again);
  EXPECT_EQ(again.run_info().findings_size(),
            result_.run_info().findings_size() + 1);
  return findings[0].message();
}

Finding JudgeTest::Find(absl::string_view code) {
  for (const Finding& finding : Judge(result_)) {
    if (finding.code() == std::string(code)) return finding;
  }
  return {};
}

}  // namespace distbench::report
