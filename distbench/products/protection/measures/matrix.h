// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Experiments, measured: their cells side by side.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_MATRIX_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_MATRIX_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/protection/measures/cell.h"
#include "distbench/products/protection/measures/run.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::protection {

// A run of an antagonist alone that failed.
struct FailureAlone {
  std::string antagonist;
  std::string failure;
};

struct ProtectionMatrix {
  // Where the results are from, such as a file name.
  std::string source;
  const ExperimentReport* report = nullptr;
  ProtectionSubject subject;

  // Why nothing was measured; empty if something was.
  std::string problem;

  // Runs of the experiment that the results do not hold, by their names and
  // repetition. They were omitted, or are yet to be run.
  std::vector<ExperimentCell> missing_runs;

  // Runs of antagonists alone that failed. What they did until then counts.
  std::vector<FailureAlone> failures_alone;

  // The search for the capacity ended at the highest load that it was to try:
  // the subject carries at least this.
  bool is_capacity_least = false;

  // By controls, antagonist and load, in the order of the experiment; first
  // those without antagonist. Only cells of which there are runs.
  std::vector<ProtectionCell> cells;
};

// Measures each experiment of the results, to which the matrices point. If
// there are several experiments, they are told apart by the names of their
// tests.
std::vector<ProtectionMatrix> MeasureExperiments(
    const TestSequenceResults& results);

// The same for the results from which the runs were listed, each once.
std::vector<ProtectionMatrix> MeasureExperiments(
    absl::Span<const report::TestRun> runs);

// What has to be known before the measures of an experiment are believed. Each
// note is part of a sentence, without a capital letter and a full stop.

// A baseline is doubtful if fewer of its requests were served within the
// objective, or if it has fewer seconds.
inline constexpr double kLeastServedShare = 0.95;
inline constexpr int kFewestBaselineSeconds = 3;

// Why the run was not measured; or how it failed, what its baseline lacks, and
// what else makes its figures mean less.
std::vector<std::string> NotesOf(const ProtectionRun& run);

// What is true of all runs of the cell.
std::vector<std::string> NotesOf(const ProtectionCell& cell);

// What the experiment lacks as a whole.
std::vector<std::string> NotesOf(const ProtectionMatrix& matrix);

// A run in the results that could not be measured.
struct UnmeasuredRun {
  const TestResult* result;
  std::string sentence;  // with its cell and the reason
};

std::vector<UnmeasuredRun> UnmeasuredRuns(const TestSequenceResults& results);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_MATRIX_H_
