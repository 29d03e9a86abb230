// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One cell of an experiment over all of its runs. The run is the unit of
// confidence intervals; distributions are those of all seconds.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_CELL_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_CELL_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/protection/measures/resources.h"
#include "distbench/products/protection/measures/run.h"
#include "distbench/products/protection/measures/value_distribution.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/stats/run_interval.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// A number with its confidence interval at kReportConfidence, which is absent
// if there are too few runs for it (see stats/run_interval.h).
struct Estimate {
  double value = 0;
  std::optional<stats::Interval> interval;
};

// The antagonist's work per second in the phase of interference, which ends
// with a run that fails: the mean over the runs that recorded it.
struct AntagonistWork {
  std::optional<WorkRate> beside;  // the subject
  std::optional<WorkRate> alone;
};

// Latencies of single reads and writes of files.
struct FileLatencies {
  NestedLatencies reads;
  NestedLatencies writes;
};

struct ProtectionCell {
  // Names; the antagonist's is empty in a cell without one.
  std::string controls;
  std::string antagonist;
  std::string load;
  double load_per_second = 0;  // 0: unknown

  // By repetition. Runs with a problem are in no figure below.
  std::vector<ProtectionRun> runs;

  // Over the seconds of interference: shares from 0 to 1, and the impact on
  // each of kImpactQuantiles, infinite where the percentile was failed. Empty
  // if nothing was measured.
  ValueDistribution isolation;
  std::array<ValueDistribution, kImpactQuantiles.size()> impact;

  // The means over the runs of their mean isolation, of the p05 of their
  // isolation, and of their mean impact on p95 in the seconds in which it is
  // finite. They differ from the figures of the distributions, which have the
  // seconds of all runs together: the p05 there is that of the worst runs.
  std::optional<Estimate> mean_isolation;
  std::optional<Estimate> p05_isolation;
  std::optional<Estimate> mean_impact;

  // Shares of the seconds of interference.
  double missing_share = 0;
  double failed_share = 0;

  FileLatencies subject_files;
  FileLatencies antagonist_files;

  // The following compare with other cells, and are absent without these. Mean
  // isolation, with the goodput of the cell without antagonist (same controls,
  // load and phase) in place of the baseline's.
  std::optional<double> isolation_against_none;
  AntagonistWork work;

  // By the order of kWorkResources; empty in cells without an antagonist.
  std::vector<WorkConservation> conservation;
};

// Derives what the runs alone tell.
void MeasureCell(ProtectionCell& cell);

// The number of runs without a problem.
size_t MeasuredRunCount(const ProtectionCell& cell);

// Goodput per second of all seconds of interference.
std::vector<double> GoodputOf(const ProtectionCell& cell);

// The antagonist's mean work in the phase of interference, or until the end of
// a run that failed; absent if no result recorded any.
std::optional<WorkRate> MeanAntagonistRate(
    absl::Span<const TestResult* const> results);

// The median over the runs of the time until the subject had recovered, in
// seconds: infinite for runs in which it did not, and of an even number of runs
// the mean of the two in the middle. Absent if no run shows it.
std::optional<double> MedianRecovery(const ProtectionCell& cell);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_CELL_H_
