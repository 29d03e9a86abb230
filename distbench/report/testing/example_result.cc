// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/testing/example_result.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/rpc_totals.h"

namespace distbench::report {
namespace {

constexpr int64_t kStartSecond = 1'700'000'000;
constexpr int64_t kStartNs = kStartSecond * base::kNsPerSecond;
constexpr double kMedianServiceNs = 200'000;
constexpr double kMedianLatenessNs = 5'000;
constexpr int kRequestBytes = 64;
constexpr int kResponseBytes = 1024;

// One second of an RPC, as a client instance records it.
struct SecondTotals {
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;
};

class Generator {
 public:
  explicit Generator(const ExampleOptions& options)
      : options_(options), random_(options.seed) {}

  TestResult Make() {
    AddConfig();
    for (int client = 0; client < options_.clients; ++client) {
      ServicePerformanceLog& log =
          (*result_.mutable_service_logs()
                ->mutable_instance_logs())[absl::StrCat("client/", client)];
      for (int rpc = 0; rpc < options_.rpcs; ++rpc) AddRpc(client, rpc, log);
    }
    AddNodes();
    AddRunInfo();
    return std::move(result_);
  }

 private:
  void AddConfig() {
    DistributedSystemDescription& config = *result_.mutable_traffic_config();
    config.set_name(options_.name);
    for (int rpc = 0; rpc < options_.rpcs; ++rpc) {
      RpcSpec& spec = *config.add_rpc_descriptions();
      spec.set_name(absl::StrCat("rpc_", rpc));
      spec.add_client("client");
      spec.set_server("server");
    }
  }

  void AddRpc(int client, int rpc, ServicePerformanceLog& log) {
    std::vector<SecondTotals> seconds(options_.seconds);
    for (int server = 0; server < options_.servers; ++server) {
      PeerPerformanceLog& peer =
          (*log.mutable_peer_logs())[absl::StrCat("server/", server)];
      DrawPair(client, server, rpc, seconds)
          .Encode(*(*peer.mutable_rpc_logs())[rpc].mutable_statistics());
    }
    AddSeries(seconds, (*log.mutable_rpc_time_series())[rpc]);
    OfferedLoad& offered = (*log.mutable_offered_loads())[rpc];
    offered.set_offered_count(int64_t{options_.count} * options_.servers *
                              options_.seconds);
  }

  results::RpcTotals DrawPair(int client, int server, int rpc,
                              std::vector<SecondTotals>& seconds) {
    // Some pairs, RPCs and seconds are slower than others.
    const double pair_factor = 1 + 0.1 * ((client * 7 + server * 3) % 10);
    results::RpcTotals totals;
    for (int second = 0; second < options_.seconds; ++second) {
      const double factor = options_.slowness * pair_factor * (1 + rpc) *
                            (second % 10 == 9 ? 1.5 : 1);
      for (int i = 0; i < options_.count; ++i) {
        const int64_t service = std::llround(kMedianServiceNs * factor *
                                             std::exp(0.5 * normal_(random_)));
        const int64_t lateness =
            std::llround(kMedianLatenessNs * std::exp(normal_(random_)));
        totals.service_time_ns.Record(service);
        totals.lateness_ns.Record(lateness);
        totals.response_time_ns.Record(service + lateness);
        seconds[second].service_time_ns.Record(service);
        seconds[second].response_time_ns.Record(service + lateness);
      }
    }
    const int64_t count = int64_t{options_.count} * options_.seconds;
    totals.counts.succeeded_count = count;
    totals.counts.request_bytes = count * kRequestBytes;
    totals.counts.response_bytes = count * kResponseBytes;
    totals.counts.first_start_timestamp_ns = kStartNs;
    totals.counts.last_end_timestamp_ns =
        kStartNs + options_.seconds * base::kNsPerSecond;
    return totals;
  }

  void AddSeries(const std::vector<SecondTotals>& seconds,
                 RpcTimeSeries& series) {
    series.set_interval_ns(base::kNsPerSecond);
    const int64_t count = int64_t{options_.count} * options_.servers;
    for (int second = 0; second < options_.seconds; ++second) {
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(kStartSecond + second);
      interval.set_offered_count(count);
      interval.set_sent_count(count);
      interval.set_succeeded_count(count);
      interval.set_request_bytes(count * kRequestBytes);
      interval.set_response_bytes(count * kResponseBytes);
      results::EncodeHistogram(seconds[second].service_time_ns,
                               *interval.mutable_service_time_ns());
      results::EncodeHistogram(seconds[second].response_time_ns,
                               *interval.mutable_response_time_ns());
    }
  }

  void AddNodes() {
    ResourceUsageLogs& logs = *result_.mutable_resource_usage_logs();
    for (int node = 0; node < options_.nodes; ++node) {
      const std::string alias = absl::StrCat("node", node);
      RUsage& usage =
          *(*logs.mutable_node_usages())[alias].mutable_rusage_diff();
      usage.set_user_cpu_time_seconds(0.5 * options_.seconds);
      usage.set_system_cpu_time_seconds(0.25 * options_.seconds);
      usage.set_max_resident_set_size(65536);
      NodeResources& resources = (*logs.mutable_node_resources())[alias];
      resources.mutable_host()->set_hostname(absl::StrCat("host", node));
      resources.mutable_host()->set_cpu_model("Example CPU");
      resources.mutable_host()->set_cpu_count(8);
      for (int second = 1; second <= options_.seconds; ++second) {
        AddResourceSample(second, resources);
      }
      DataConnection& connection = *resources.add_data_connections();
      connection.set_local_address(absl::StrCat("10.0.0.", node, ":40000"));
      connection.set_peer_address(
          absl::StrCat("10.0.0.", (node + 1) % options_.nodes, ":5000"));
      connection.set_congestion_control("cubic");
      connection.set_sent_segments(4321);
    }
  }

  void AddResourceSample(int second, NodeResources& resources) {
    ResourceSample& sample = *resources.add_samples();
    sample.set_end_timestamp_ns(kStartNs + second * base::kNsPerSecond);
    sample.set_duration_ns(base::kNsPerSecond);
    sample.set_process_cpu_ns(base::kNsPerSecond * 3 / 4 +
                              second % 5 * 10'000'000);
    sample.set_host_cpu_ns(base::kNsPerSecond);
    sample.set_resident_bytes((64 << 20) + second * 4096);
    CpuUse& cpu = *sample.add_cpus();
    cpu.set_cpu(0);
    cpu.set_user_ns(base::kNsPerSecond / 2);
    NetworkCounters& loopback = (*sample.mutable_network())["lo"];
    loopback.set_received_bytes(1 << 20);
    loopback.set_sent_bytes(1 << 20);
  }

  void AddRunInfo() {
    RunInfo& run_info = *result_.mutable_run_info();
    run_info.set_version("0.0.0");
    run_info.set_random_seed(options_.seed);
    run_info.set_start_timestamp_ns(kStartNs);
    run_info.set_end_timestamp_ns(kStartNs +
                                  options_.seconds * base::kNsPerSecond);
    Finding& finding = *run_info.add_findings();
    finding.set_severity(Finding::WARN);
    finding.set_code("example");
    finding.set_message("This result was made up.");
  }

  const ExampleOptions& options_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  TestResult result_;
};

}  // namespace

TestResult MakeExampleResult(const ExampleOptions& options) {
  return Generator(options).Make();
}

}  // namespace distbench::report
