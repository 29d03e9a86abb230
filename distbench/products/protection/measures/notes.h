// What has to be known before the measures of an experiment are believed. Each
// note is part of a sentence, without a capital letter and a full stop.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_MEASURES_NOTES_H_
#define DISTBENCH_PRODUCTS_PROTECTION_MEASURES_NOTES_H_

#include <string>
#include <vector>

#include "distbench/products/protection/measures/cell.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/run.h"
#include "proto/results.pb.h"

namespace distbench::protection {

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

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_MEASURES_NOTES_H_
