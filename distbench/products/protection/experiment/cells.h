// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The cells of an experiment: controls x antagonists x loads.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_CELLS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_CELLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/experiment.pb.h"

namespace distbench::protection {

// The most runs that an experiment may have, and how many it has. The number is
// a double because configs that nobody checked may ask for any; it is exact
// where it matters. A list of controls or loads that is empty counts as one.
// The limit is there because the results of all runs are kept in one file.
inline constexpr int kMostExperimentRuns = 10'000;
double CountRuns(const Experiment& experiment);

// The runs of an experiment whose defaults have been made explicit, in the
// order in which they take place. In each repetition, every cell is run once,
// in an order that the seed draws: for each set of controls and each load there
// is a cell for each antagonist and one without; and for each antagonist one in
// which it runs alone, without controls. load_per_second is not set.
std::vector<ExperimentCell> ListCells(const Experiment& experiment,
                                      uint64_t seed);

// Whether both are runs of the same cell, perhaps in different repetitions.
bool IsSameCell(const ExperimentCell& a, const ExperimentCell& b);

// Whether both are the same run.
bool IsSameRun(const ExperimentCell& a, const ExperimentCell& b);

// For users, such as "controls on, hog, 80%"; without the repetition.
std::string DescribeCell(const ExperimentCell& cell);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_EXPERIMENT_CELLS_H_
