// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/benchpress/benchpress.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;

using ::nlohmann::json;

RpcStatistics Statistics(int count, int64_t latency_ns) {
  stats::LogHistogram latency;
  for (int i = 0; i < count; ++i) latency.Record(latency_ns);
  RpcStatistics statistics;
  statistics.set_succeeded_count(count);
  statistics.set_first_start_timestamp_ns(0);
  statistics.set_last_end_timestamp_ns(10'000'000'000);
  results::EncodeHistogram(latency, *statistics.mutable_response_time_ns());
  return statistics;
}

// A search that ended with a final run of 10 s at 250 per second and instance.
SearchReport Report(int instances) {
  SearchReport report;
  report.mutable_search()->set_knob("rate");
  report.mutable_search()->add_objectives("query p95<=500ms");
  report.set_verdict("converged");
  SearchProbe& warmup = *report.add_probes();
  warmup.set_phase("warmup");
  warmup.set_start_timestamp_ns(1'700'000'000'000'000'000);
  SearchProbe& final = *report.add_probes();
  final.set_phase("final");
  final.set_outcome("met");
  final.set_requested_load(250 * instances);
  *final.mutable_statistics() = Statistics(2484 * instances, 310'900'000);
  for (int i = 0; instances > 1 && i < instances; ++i) {
    *final.add_instance_statistics() =
        Statistics(2484, 300'000'000 + 20'000'000 * i);
  }
  return report;
}

TestResult Run() {
  TestResult run;
  run.mutable_traffic_config()->set_name("feed");
  run.mutable_run_info()->set_random_seed(0x2ef4dfad);
  HostFacts& host =
      *(*run.mutable_resource_usage_logs()->mutable_node_resources())["node0"]
           .mutable_host();
  host.set_hostname("h");
  host.set_kernel("Linux 6.1.0 x86_64");
  host.set_online_cpu_count(380);
  host.set_memory_bytes(1024 * 2048);
  (*host.mutable_versions())["os"] = "Debian GNU/Linux 12";
  for (const auto& [name, kib] :
       {std::pair{"L1d", 32}, {"L1d", 32}, {"L2", 1536}}) {
    CpuCache& cache = *host.mutable_topology()->add_caches();
    cache.set_name(name);
    cache.set_size_bytes(1024 * kib);
  }
  Finding& finding = *run.mutable_run_info()->add_findings();
  finding.set_code("on_final");
  finding.set_message("perf: 12 samples");
  return run;
}

json Render(const SearchReport& report, bool strict_legacy) {
  const TestResult run = Run();
  const std::vector<SourcedSearch> searches = {{"a.pb", &report}};
  const std::vector<report::TestRun> runs = {
      {.source = "a.pb", .result = &run}};
  const auto text =
      RenderBenchpress(searches, runs, {.strict_legacy = strict_legacy});
  EXPECT_TRUE(text.ok()) << text.status();
  return json::parse(*text);
}

TEST(BenchpressTest, HasTheEnvelope) {
  const json document = Render(Report(1), false);
  EXPECT_EQ(document["benchmark_name"], "feed");
  EXPECT_EQ(document["benchmark_args"][0], "--slo=query p95<=500ms");
  EXPECT_EQ(document["benchmark_hooks"][0], "on_final: perf: 12 samples");
  EXPECT_EQ(document["run_id"], "2ef4dfad");
  EXPECT_EQ(document["timestamp"], 1'700'000'000);
  const json& machine = document["machines"][0];
  EXPECT_EQ(machine["cpu_architecture"], "x86_64");
  EXPECT_EQ(machine["kernel_version"], "6.1.0");
  EXPECT_EQ(machine["num_logical_cpus"], 380);
  EXPECT_EQ(machine["mem_total_kib"], 2048);
  EXPECT_EQ(machine["os_release_name"], "Debian GNU/Linux 12");
  EXPECT_EQ(document["metadata"]["L1d cache"], "64 KiB (2 instances)");
  EXPECT_EQ(document["metadata"]["L2 cache"], "1.5 MiB (1 instance)");
}

TEST(BenchpressTest, HasTheMetricsOfOneInstanceAsTheyAre) {
  const json metrics = Render(Report(1), true)["metrics"];
  EXPECT_EQ(metrics["final_achieved_qps"], 248.4);
  EXPECT_EQ(metrics["final_requested_qps"], 250.0);
  EXPECT_NEAR(metrics["final_latency_msec"].get<double>(), 310.9, 3);
  EXPECT_EQ(metrics["target_percentile"], "95p");
  EXPECT_EQ(metrics["target_latency_msec"], 500.0);
  EXPECT_FALSE(metrics.contains("status"));
}

TEST(BenchpressTest, AddsUpInstances) {
  const json metrics = Render(Report(2), false)["metrics"];
  EXPECT_EQ(metrics["1"]["final_requested_qps"], 250.0);
  EXPECT_NEAR(metrics["2"]["final_latency_msec"].get<double>(), 320, 3);
  EXPECT_EQ(metrics["overall"]["final_achieved_qps"], 496.8);
  EXPECT_NEAR(metrics["overall"]["average_latency_msec"].get<double>(), 310, 3);
  EXPECT_NEAR(metrics["overall"]["merged_latency_msec"].get<double>(), 310.9,
              3);
  EXPECT_EQ(metrics["spawned_instances"], 2);
  EXPECT_EQ(metrics["successful_instances"], 2);
  EXPECT_EQ(metrics["status"], "converged");
}

TEST(BenchpressTest, WritesTextWhereTheOriginalDoes) {
  const json document = Render(Report(2), true);
  EXPECT_EQ(document["metrics"]["spawned_instances"], "2");
  EXPECT_EQ(document["metrics"]["successful_instances"], 2);
  EXPECT_EQ(document["metrics"]["target_latency_msec"], "500");
  EXPECT_FALSE(document["metrics"]["overall"].contains("merged_latency_msec"));
  EXPECT_EQ(document["machines"][0]["num_logical_cpus"], "380");
  EXPECT_EQ(document["machines"][0]["mem_total_kib"], "2048 KiB");
}

TEST(BenchpressTest, NamesWhatFailed) {
  SearchReport report = Report(2);
  report.set_verdict("invalid");
  SearchProbe& failed = *report.mutable_probes(1);
  failed.set_phase("bracket");
  failed.set_outcome("failed");
  failed.add_instance_failures("instance 2: nothing was heard of it");
  *failed.mutable_instance_statistics(1) = RpcStatistics();
  const json metrics = Render(report, false)["metrics"];
  EXPECT_EQ(metrics["status"], "invalid");
  EXPECT_EQ(metrics["successful_instances"], 1);
  EXPECT_TRUE(metrics["2"]["final_latency_msec"].is_null());
  EXPECT_THAT(metrics["instance_failures"][0].get<std::string>(),
              HasSubstr("instance 2"));
}

TEST(BenchpressTest, IsOfRatesOnly) {
  EXPECT_THAT(std::string(RenderBenchpress({}, {}, {}).status().message()),
              HasSubstr("no search"));
  SearchReport report = Report(1);
  report.mutable_search()->set_knob("payload:p");
  report.set_load_unit("bytes");
  const std::vector<SourcedSearch> searches = {{"a.pb", &report}};
  EXPECT_THAT(
      std::string(RenderBenchpress(searches, {}, {}).status().message()),
      HasSubstr("are bytes"));
}

// A search with two instances, and a probe that was ended early.
SearchReport TwoInstances() {
  SearchReport report;
  report.mutable_search()->set_knob("rate");
  report.set_verdict("converged");
  report.set_load(300);
  report.set_max_load(310);
  SearchProbe& probe = *report.add_probes();
  probe.set_phase("final");
  probe.set_requested_load(300);
  probe.set_achieved_load(298);
  probe.mutable_statistics()->set_succeeded_count(5);
  probe.add_instance_statistics()->set_succeeded_count(2);
  probe.add_instance_statistics()->set_succeeded_count(3);
  probe.add_instance_failures("instance 2: it was slow");
  report.add_probes()->set_requested_load(600);
  return report;
}

TEST(ReportOfInstanceTest, HasItsShareAndItsMeasurements) {
  const auto own = ReportOfInstance(TwoInstances(), 2);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->verdict(), "converged");
  EXPECT_EQ(own->load(), 150);
  EXPECT_EQ(own->max_load(), 155);
  EXPECT_FALSE(own->has_min_load());
  ASSERT_EQ(own->probes_size(), 1) << "without what was ended early";
  const SearchProbe& probe = own->probes(0);
  EXPECT_EQ(probe.requested_load(), 150);
  EXPECT_EQ(probe.achieved_load(), 149);
  EXPECT_EQ(probe.statistics().succeeded_count(), 3);
  EXPECT_EQ(probe.instance_statistics_size(), 0);
  EXPECT_EQ(probe.instance_failures_size(), 0);
}

TEST(ReportOfInstanceTest, OtherLoadsApplyToEachInstance) {
  SearchReport all = TwoInstances();
  all.mutable_search()->set_knob("concurrency");
  const auto own = ReportOfInstance(all, 1);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->load(), 300);
  EXPECT_EQ(own->probes(0).requested_load(), 300);
  EXPECT_EQ(own->probes(0).statistics().succeeded_count(), 2);
}

TEST(ReportOfInstanceTest, OneInstanceIsTheSearch) {
  SearchReport alone = TwoInstances();
  alone.mutable_probes(0)->clear_instance_statistics();
  const auto own = ReportOfInstance(alone, 1);
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->load(), 300);
  EXPECT_EQ(own->probes_size(), 2);
}

TEST(ReportOfInstanceTest, SaysWhichThereAre) {
  for (const int instance : {0, 3}) {
    EXPECT_THAT(ReportOfInstance(TwoInstances(), instance).status().message(),
                HasSubstr("the search has the instances 1 to 2"));
  }
}

}  // namespace
}  // namespace distbench::search
