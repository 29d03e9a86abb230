#include "distbench/deployment/capacity_search.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/deployment/local_cluster.h"
#include "distbench/search/load_search.h"
#include "distbench/search/measured_probe.h"
#include "distbench/search/objective.h"
#include "distbench/search/rate_knob.h"

namespace distbench {
namespace {

// In the words of the result.
void AddProbe(int number, const MeasuredProbe& measured,
              const TestResult& result, SearchReport& report) {
  SearchProbe& probe = *report.add_probes();
  probe.set_number(number);
  probe.set_phase(std::string(ToString(measured.probe.request.phase)));
  probe.set_requested_load(measured.probe.request.load);
  probe.set_achieved_load(measured.probe.achieved_load);
  probe.set_outcome(measured.outcome);
  probe.add_measured(measured.measured);
  probe.add_load_of_limit(std::exp(measured.probe.excess));
  probe.set_start_timestamp_ns(result.run_info().start_timestamp_ns());
  probe.set_end_timestamp_ns(result.run_info().end_timestamp_ns());
  probe.set_excess(measured.probe.excess);
  probe.set_excess_error(measured.probe.excess_error);
  probe.set_length(measured.probe.request.length);
}

void SetSpec(const std::string& objective, const SearchOptions& options,
             const SearchTiming& timing, SearchReport& report) {
  LoadSearchSpec& spec = *report.mutable_search();
  spec.add_objectives(objective);
  spec.set_knob("rate");
  spec.set_initial_load(options.initial_load);
  spec.set_tolerance(options.tolerance);
  spec.set_max_probes(options.max_probes);
  spec.set_warmup_us(absl::ToInt64Microseconds(timing.warmup));
  spec.set_probe_duration_us(absl::ToInt64Microseconds(timing.probe));
  spec.set_final_duration_us(absl::ToInt64Microseconds(timing.final_run));
  report.set_load_unit("iterations per second");
}

}  // namespace

absl::StatusOr<CapacityAnswer> LocalCapacitySearch::Search(
    const CapacityQuestion& question) {
  const PlannedDeployment& deployment = *question.deployment;
  const absl::StatusOr<Objective> objective =
      ParseObjective(question.objective);
  if (!objective.ok()) return objective.status();
  const absl::StatusOr<RateKnob> knob = RateKnob::Make(deployment.test);
  if (!knob.ok()) return knob.status();
  const absl::StatusOr<std::unique_ptr<LocalCluster>> cluster =
      LocalCluster::Start(program_, deployment.node_flags);
  if (!cluster.ok()) return cluster.status();
  const absl::StatusOr<std::unique_ptr<TestClient>> client =
      TestClient::Connect((*cluster)->address());
  if (!client.ok()) return client.status();

  SearchOptions options;
  options.initial_load = knob->base_load();
  options.max_probes = max_probes_;
  options.tolerance = tolerance_;
  CapacityAnswer answer;
  SetSpec(question.objective, options, timing_, answer.search);
  const auto observe = [&](int number, const MeasuredProbe& probe,
                           const TestResult& result) {
    AddProbe(number, probe, result, answer.search);
    answer.final_run = result;
    observe_(absl::StrFormat("  %s at %.6g per second: %s, %s",
                             ToString(probe.probe.request.phase),
                             probe.probe.request.load, probe.outcome,
                             probe.measured));
  };
  const absl::StatusOr<SearchResult> result = RunLoadSearch(
      options, timing_, *knob, {*objective},
      {.run = [&](const DistributedSystemDescription& test) {
         return Run(**client, test);
       },
       .announce = [](int, const ProbeRequest&, absl::Duration,
                      absl::Duration) {},
       .observe = observe});
  if (!result.ok()) return result.status();
  answer.search.set_verdict(std::string(ToString(result->verdict)));
  answer.search.set_evidence(result->evidence);
  if (result->load) answer.search.set_load(*result->load);
  return answer;
}

absl::StatusOr<TestResult> LocalCapacitySearch::Run(
    TestClient& client, const DistributedSystemDescription& test) {
  {
    absl::MutexLock lock(&mutex_);
    if (is_cancelled_) return absl::CancelledError("cancelled");
    client_ = &client;
  }
  TestSequence sequence;
  *sequence.add_tests() = test;
  TestSequenceResults results;
  absl::Status status =
      client.RunTests(sequence, [](const RunTestsEvent&) {}, results);
  {
    absl::MutexLock lock(&mutex_);
    client_ = nullptr;
  }
  if (!status.ok()) return status;
  return std::move(*results.mutable_test_results(0));
}

void LocalCapacitySearch::Cancel() {
  absl::MutexLock lock(&mutex_);
  is_cancelled_ = true;
  if (client_ != nullptr) client_->Cancel();
}

}  // namespace distbench
