// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A test of whether two groups of runs come from the same population, by
// exchanging runs between the groups.

#ifndef DISTBENCH_STATS_PERMUTATION_H_
#define DISTBENCH_STATS_PERMUTATION_H_

#include <cstddef>
#include <vector>

namespace distbench::stats {

// Distances between runs: symmetric, 0 from a run to itself. The first runs are
// the first group, all others the second.
using DistanceMatrix = std::vector<std::vector<double>>;

// Up to this many divisions of the runs into groups, all are examined; beyond
// it, kRandomDivisions drawn with a fixed seed.
inline constexpr int kMaxDivisions = 20'000;
inline constexpr int kRandomDivisions = 9'999;

// Returns the p-value: the share of all divisions of the runs into groups of
// these sizes in which the groups are at least as far apart as they are. If the
// runs are interchangeable, it is at most x with a probability of at most x,
// for any number of runs and whatever the distances mean.
//
// How far groups are apart is the energy distance between them: twice the mean
// distance between runs of different groups, minus the mean distances within
// the groups. G. J. Szekely and M. L. Rizzo, Testing for Equal Distributions in
// High Dimension, InterStat 5 (2004); of random divisions, as in B. Phipson and
// G. K. Smyth, Permutation P-values Should Never Be Zero, SAGMB 9 (2010) 39.
//
// Requires 1 <= first_group_size < distances.size().
double PermutationPValue(const DistanceMatrix& distances,
                         size_t first_group_size);

// Returns the smallest p-value that groups of these sizes, both at least 1, can
// have.
double SmallestPValue(size_t first_group_size, size_t second_group_size);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_PERMUTATION_H_
