// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/testing/interval_coverage.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "distbench/base/time_units.h"
#include "distbench/products/search/search_plan.h"
#include "distbench/products/search/search_run.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "distbench/stats/median.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {
namespace {

double MedianOf(std::vector<double> values) {
  return values.empty() ? 0 : stats::Median(std::move(values));
}

double SecondsOf(const SearchReport& report) {
  double ns = 0;
  for (const SearchProbe& probe : report.probes()) {
    ns += static_cast<double>(probe.end_timestamp_ns() -
                              probe.start_timestamp_ns());
  }
  return ns / base::kNsPerSecond;
}

}  // namespace

std::vector<CoverageCase> CoverageCases() {
  const SimulatedQueue exponential = {QueueKind::kExponentialService, 500};
  const SimulatedQueue fixed = {QueueKind::kFixedService, 500};
  const SimulatedQueue shared = {QueueKind::kProcessorSharing, 500};
  return {
      {"M/M/1", exponential, "p95<=20ms",
       CapacityForQuantile(exponential, 0.95, 0.020)},
      {"M/D/1", fixed, "p95<=20ms", CapacityForQuantile(fixed, 0.95, 0.020)},
      {"M/M/1-PS", shared, "mean<=8ms", CapacityForMean(shared, 0.008)},
      {"M/M/1", exponential, "p99<=30ms",
       CapacityForQuantile(exponential, 0.99, 0.030)}};
}

std::vector<CoverageCase> NearSaturationCases() {
  const SimulatedQueue queue = {QueueKind::kExponentialService, 500};
  return {{"M/M/1", queue, "p95<=100ms", CapacityForQuantile(queue, 0.95, 0.1)},
          {"M/M/1", queue, "p95<=1s", CapacityForQuantile(queue, 0.95, 1)}};
}

absl::StatusOr<SearchReport> SearchSimulated(const CoverageCase& search,
                                             const CoverageTiming& timing,
                                             int seed) {
  LoadSearchSpec spec;
  spec.add_objectives(search.objective);
  spec.set_probe_duration_us(absl::ToInt64Microseconds(timing.probe));
  spec.set_final_duration_us(absl::ToInt64Microseconds(timing.final_run));
  const absl::StatusOr<SearchPlan> plan = PlanSearch(spec, SimulatedTest());
  if (!plan.ok()) return plan.status();
  SimulatedSystem system(search.queue, seed);
  SearchCallbacks callbacks;
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher&) -> absl::StatusOr<TestResult> {
    return system.Run(test);
  };
  TestSequenceResults results;
  const absl::Status status = RunLoadSearch(*plan, callbacks, results);
  if (!status.ok()) return status;
  return results.searches(0);
}

absl::StatusOr<Coverage> MeasureCoverage(const CoverageCase& search,
                                         const CoverageTiming& timing,
                                         int seeds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Coverage coverage;
  std::vector<double> widths;
  std::vector<double> errors;
  for (int seed = 0; seed < seeds; ++seed) {
    const absl::StatusOr<SearchReport> report =
        SearchSimulated(search, timing, seed);
    if (!report.ok()) return report.status();
    ++coverage.searches;
    coverage.mean_seconds += SecondsOf(*report) / seeds;
    if (!report->has_load()) continue;
    ++coverage.answers;
    const double low = report->min_load();
    const double high = report->has_max_load() ? report->max_load() : kInfinity;
    coverage.held += low <= search.truth && search.truth <= high;
    coverage.proven += report->is_proven();
    coverage.wrongly_proven +=
        report->is_proven() && report->load() > search.truth;
    widths.push_back((high - low) / search.truth);
    errors.push_back(report->load() / search.truth - 1);
  }
  coverage.median_width = MedianOf(std::move(widths));
  coverage.median_error = MedianOf(std::move(errors));
  return coverage;
}

}  // namespace distbench::search
