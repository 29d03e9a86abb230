// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/simulation_display.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/time_units.h"
#include "distbench/results/run_failure.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kLogIntervalNs = 5 * base::kNsPerSecond;

}  // namespace

SimulationDisplay::SimulationDisplay(client::ProgressDisplayOptions options)
    : line_(std::move(options)) {}

void SimulationDisplay::ShowStart(int test_index, const std::string& name) {
  title_ = absl::StrFormat("[%d/%d] %s: ", test_index + 1,
                           line_.options().test_count, name);
  started_ns_ = shown_ns_ = line_.options().clock->MonotonicNs();
  line_.Show(title_ + "simulating");
}

void SimulationDisplay::Show(const ClusterRunOptions::Progress& progress) {
  const int64_t now_ns = line_.options().clock->MonotonicNs();
  if (!line_.options().terminal && now_ns - shown_ns_ < kLogIntervalNs) return;
  shown_ns_ = now_ns;
  line_.Show(
      client::FitLine({{title_, 1, false},
                       {absl::StrFormat("%.3f s simulated",
                                        base::ToSeconds(progress.simulated_ns)),
                        0},
                       {absl::StrCat(progress.succeeded, " RPCs"), 2},
                       {absl::StrCat(progress.failed, " failed"), 3},
                       {absl::StrCat(progress.events, " events"), 4}},
                      line_.room()));
}

void SimulationDisplay::ShowEnd(const TestResult& result) {
  line_.Write(absl::StrFormat(
      "%s%s after %.1f s, simulated %.3f s", title_,
      results::FailureOf(result) ? "failed" : "done",
      base::ToSeconds(line_.options().clock->MonotonicNs() - started_ns_),
      result.simulation().simulated_seconds()));
}

}  // namespace distbench::simulation
