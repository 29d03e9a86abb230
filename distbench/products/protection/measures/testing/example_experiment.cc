// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/testing/example_experiment.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::protection {
namespace {

constexpr int64_t kStartNs = kExampleStartSecond * base::kNsPerSecond;

std::string AntagonistInstance(const ExampleRun& run) {
  return absl::StrCat("antagonist_", run.antagonist, "/0");
}

void Encode(const std::vector<int64_t>& values, Histogram& proto) {
  stats::LogHistogram histogram;
  for (const int64_t value : values) histogram.Record(value);
  results::EncodeHistogram(histogram, proto);
}

void AddCell(const ExampleRun& run, TestResult& result) {
  ExperimentCell& cell = *result.mutable_experiment_cell();
  cell.set_controls(run.controls);
  cell.set_antagonist(run.antagonist);
  cell.set_load(run.load);
  cell.set_repetition(run.repetition);
  if (!run.purpose.empty()) cell.set_purpose(run.purpose);
  const int64_t interfere_ns = kStartNs + run.baseline_s * base::kNsPerSecond;
  const int64_t recover_ns =
      interfere_ns + run.interfere_s * base::kNsPerSecond;
  cell.set_baseline_start_timestamp_ns(kStartNs);
  cell.set_interfere_start_timestamp_ns(interfere_ns);
  cell.set_recover_start_timestamp_ns(recover_ns);
  cell.set_end_timestamp_ns(recover_ns + run.recover_s * base::kNsPerSecond);
  cell.set_is_stable(true);
  result.mutable_run_info()->set_start_timestamp_ns(kStartNs);
  result.mutable_run_info()->set_end_timestamp_ns(cell.end_timestamp_ns());
  result.mutable_run_info()->set_repetition(run.repetition);
}

void AddSubject(const ExampleRun& run, ServicePerformanceLog& log) {
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(base::kNsPerSecond);
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    const ExampleSecond& second = run.seconds[i];
    const int64_t count = static_cast<int64_t>(second.latency_ns.size());
    if (count + second.failed_count == 0) continue;
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(kExampleStartSecond + static_cast<int64_t>(i));
    interval.set_succeeded_count(count);
    interval.set_failed_count(second.failed_count);
    Encode(second.latency_ns, *interval.mutable_service_time_ns());
    if (!run.is_open_loop) continue;
    interval.set_offered_count(count + second.failed_count);
    Encode(second.latency_ns, *interval.mutable_response_time_ns());
  }
}

void AddAntagonist(const ExampleRun& run, ServicePerformanceLog& log) {
  ActivitySeries& series =
      *(*log.mutable_activity_logs())["work"].mutable_series();
  series.set_interval_ns(base::kNsPerSecond);
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    const ExampleSecond& second = run.seconds[i];
    if (second.offered_count + second.completed_count == 0) continue;
    ActivityInterval& interval = *series.add_intervals();
    interval.set_index(kExampleStartSecond + static_cast<int64_t>(i));
    interval.set_offered_count(second.offered_count);
    interval.set_completed_count(second.completed_count);
    interval.set_output_bytes(second.bytes);
    if (!second.read_ns.empty()) {
      Encode(second.read_ns, *interval.mutable_read_ns());
    }
  }
}

void AddNode(const ExampleRun& run, NodeResources& node) {
  node.mutable_host()->set_hostname("host0");
  node.mutable_host()->set_cpu_count(kExampleCpus);
  int64_t end_ns = kStartNs;
  for (const ExampleSecond& second : run.seconds) {
    ResourceSample& sample = *node.add_samples();
    end_ns += base::kNsPerSecond;
    sample.set_end_timestamp_ns(end_ns);
    sample.set_duration_ns(base::kNsPerSecond);
    const int64_t used_ns = std::llround(second.cpus_used * base::kNsPerSecond);
    sample.set_process_cpu_ns(used_ns);
    sample.set_host_cpu_ns(used_ns);
    HostCounters& counters = *sample.mutable_host_counters();
    counters.set_idle_cpu_ns(kExampleCpus * base::kNsPerSecond - used_ns);
    counters.set_memory_pressure_ns(base::kNsPerSecond / 10);
    if (!second.device_bytes) continue;
    (*sample.mutable_groups())[""].set_read_bytes(*second.device_bytes);
    GroupUse& group = (*sample.mutable_groups())["server/0"];
    group.set_cpu_ns(used_ns / 2);
    group.set_memory_bytes(64 << 20);
    group.set_some_memory_pressure_ns(base::kNsPerSecond / 4);
  }
}

void AddPlacement(const ExampleRun& run, TestResult& result) {
  auto& endpoints = *result.mutable_placement()->mutable_service_endpoints();
  endpoints["server/0"].set_node_alias("node0");
  if (!run.antagonist.empty()) {
    endpoints[AntagonistInstance(run)].set_node_alias("node0");
  }
}

std::vector<ExampleSecond*> SecondsOf(ExampleRun& run, int begin, int count) {
  std::vector<ExampleSecond*> seconds;
  for (int i = begin; i < begin + count; ++i) {
    seconds.push_back(&run.seconds[i]);
  }
  return seconds;
}

// A run in which the antagonist halves the subject's rate and doubles its
// latencies, unless the controls are on.
ExampleRun ExampleOf(const std::string& controls, const std::string& antagonist,
                     int repetition) {
  ExampleRun run = SteadyRun(100, 1'000'000);
  run.controls = controls;
  run.antagonist = antagonist;
  run.load = "80%";
  run.repetition = repetition;
  for (ExampleSecond& second : run.seconds) second.cpus_used = 0.5;
  if (antagonist.empty()) return run;
  for (ExampleSecond* second : InterferenceOf(run)) {
    if (controls == "off") {
      second->latency_ns.assign(50 + repetition, 2'000'000);
    }
    second->offered_count = 100;
    second->completed_count = controls == "off" ? 80 : 60;
    second->bytes = 1 << 20;
    second->read_ns = {100'000, 200'000, 3'000'000};
    second->cpus_used = 1.9;
    second->device_bytes = 1 << 20;
  }
  return run;
}

}  // namespace

ExampleRun SteadyRun(int per_second, int64_t latency_ns) {
  ExampleRun run;
  const ExampleSecond second = {
      .latency_ns = std::vector<int64_t>(per_second, latency_ns),
      .read_ns = {},
      .device_bytes = {}};
  run.seconds.assign(run.baseline_s + run.interfere_s + run.recover_s, second);
  return run;
}

std::vector<ExampleSecond*> InterferenceOf(ExampleRun& run) {
  return SecondsOf(run, run.baseline_s, run.interfere_s);
}

std::vector<ExampleSecond*> RecoveryOf(ExampleRun& run) {
  return SecondsOf(run, run.baseline_s + run.interfere_s, run.recover_s);
}

TestResult ResultOf(const ExampleRun& run) {
  TestResult result;
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.set_name("protected");
  config.add_rpc_descriptions()->set_name(kExampleRpc);
  AddCell(run, result);
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  AddSubject(run, logs["client/0"]);
  if (!run.antagonist.empty())
    AddAntagonist(run, logs[AntagonistInstance(run)]);
  AddNode(run, (*result.mutable_resource_usage_logs()
                     ->mutable_node_resources())["node0"]);
  AddPlacement(run, result);
  return result;
}

TestSequenceResults ResultsOf(const std::vector<ExampleRun>& runs,
                              const std::string& objective) {
  TestSequenceResults results;
  ExperimentReport& report = *results.add_experiments();
  report.set_test_name("protected");
  ExperimentSubject& subject = *report.mutable_experiment()->mutable_subject();
  subject.set_rpc(kExampleRpc);
  if (!objective.empty()) subject.set_objective(objective);
  for (const ExampleRun& run : runs) {
    *results.add_test_results() = ResultOf(run);
  }
  return results;
}

TestSequenceResults MakeExampleExperiment() {
  std::vector<ExampleRun> runs;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (const char* antagonist : {"hog", "", "burner"}) {
      for (const char* controls : {"on", "off"}) {
        runs.push_back(ExampleOf(controls, antagonist, repetition));
      }
      if (*antagonist == '\0') continue;
      ExampleRun& alone =
          runs.emplace_back(ExampleOf("", antagonist, repetition));
      alone.purpose = "antagonist_alone";
      alone.load.clear();
      for (ExampleSecond& second : alone.seconds) second.latency_ns.clear();
    }
  }
  TestSequenceResults results = ResultsOf(runs, "p99<=20ms");
  ExperimentReport& report = *results.mutable_experiments(0);
  Experiment& experiment = *report.mutable_experiment();
  experiment.add_controls()->set_name("off");
  experiment.add_controls()->set_name("on");
  experiment.add_antagonists()->set_name("hog");
  experiment.add_antagonists()->set_name("burner");
  experiment.mutable_subject()->add_loads("80%");
  report.set_capacity_per_second(125);
  report.add_omissions("The device has no io.cost, so the set was left out.");
  return results;
}

}  // namespace distbench::protection
