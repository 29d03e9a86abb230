// What has to be known before the measures of an experiment are believed. Each
// note is part of a sentence, without a capital letter and a full stop.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_PROTECTION_NOTES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_PROTECTION_NOTES_H_

#include <string>
#include <vector>

#include "distbench/report/measurements/protection_cell.h"
#include "distbench/report/measurements/protection_matrix.h"
#include "distbench/report/measurements/protection_run.h"
#include "proto/results.pb.h"

namespace distbench::report {

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

// Sentences about the runs in the results that could not be measured, with
// their cells and the reasons.
std::vector<std::string> UnmeasuredRuns(const TestSequenceResults& results);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_PROTECTION_NOTES_H_
