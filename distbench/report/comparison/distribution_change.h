// Whether the whole distribution of a latency changed, also where the usual
// percentiles hold still.

#ifndef DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_
#define DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "distbench/report/comparison/metric_values.h"

namespace distbench::report {

// A test of whether two groups of runs come from the same population, by
// exchanging runs between the groups.

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

// A distribution differs if its p-value is at most this.
inline constexpr double kDistributionError = 0.05;

// More runs of a group than this are not looked at.
inline constexpr int kMaxDistributionRuns = 60;

struct DistributionChange {
  // The p-value of "base and new have the same distribution". Absent if the
  // runs cannot show a difference; the reason is then given.
  std::optional<double> p_value = {};
  std::string reason = {};

  // How far apart the groups are: by how much the quantiles of the groups'
  // means differ, on average over all quantiles; 0.05 means 5 %.
  double distance = 0;

  bool differs() const { return p_value && *p_value <= kDistributionError; }
};

// Exchanges whole runs between the groups, because
// the RPCs of one run are not independent. The distance between two runs is the
// mean difference between the logarithms of their quantiles, which is the
// Wasserstein distance of the logarithms of the latencies. RPCs that failed
// count as twice the highest latency of all runs. Neither group may be empty.
//
// Groups that were measured at different times also differ by what else changed
// in between.
DistributionChange CompareDistributions(const RpcRuns& base,
                                        const RpcRuns& next,
                                        LatencyKind latency);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_DISTRIBUTION_CHANGE_H_
