// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace distbench::stats {
namespace {

// Equal distances may differ by rounding.
constexpr double kRounding = 1e-9;

// The group of each run: 1 for the first, 0 for the second.
using Division = std::vector<char>;

// The number of ways to choose a group, at most kMaxDivisions + 1.
double CountDivisions(size_t first_size, size_t second_size) {
  double count = 1;
  for (size_t i = 1; i <= first_size && count <= kMaxDivisions; ++i) {
    count =
        count * static_cast<double>(second_size + i) / static_cast<double>(i);
  }
  return std::min(std::round(count), kMaxDivisions + 1.0);
}

double EnergyDistance(const DistanceMatrix& distances, const Division& division,
                      double first_size) {
  double sums[3] = {};  // by the number of runs that are in the first group
  for (size_t i = 0; i < division.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      sums[division[i] + division[j]] += distances[i][j];
    }
  }
  const double second_size = static_cast<double>(division.size()) - first_size;
  return 2 * (sums[1] / first_size / second_size -
              sums[2] / first_size / first_size -
              sums[0] / second_size / second_size);
}

}  // namespace

double SmallestPValue(size_t first_group_size, size_t second_group_size) {
  const double divisions = CountDivisions(first_group_size, second_group_size);
  if (divisions > kMaxDivisions) return 1.0 / (kRandomDivisions + 1);
  // Groups of one size are as far apart after they have swapped all runs.
  return (first_group_size == second_group_size ? 2 : 1) / divisions;
}

double PermutationPValue(const DistanceMatrix& distances,
                         size_t first_group_size) {
  Division division(distances.size(), 0);
  std::fill_n(division.begin(), first_group_size, 1);
  const double first_size = static_cast<double>(first_group_size);
  const double observed = EnergyDistance(distances, division, first_size);
  const double threshold = observed - kRounding * std::abs(observed);
  const double divisions =
      CountDivisions(first_group_size, distances.size() - first_group_size);
  int as_far = 0;
  if (divisions <= kMaxDivisions) {
    // From the highest order to the lowest: the observed division comes first.
    do {
      as_far += EnergyDistance(distances, division, first_size) >= threshold;
    } while (std::prev_permutation(division.begin(), division.end()));
    return as_far / divisions;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < kRandomDivisions; ++i) {
    std::shuffle(division.begin(), division.end(), random);
    as_far += EnergyDistance(distances, division, first_size) >= threshold;
  }
  return (as_far + 1.0) / (kRandomDivisions + 1.0);
}

}  // namespace distbench::stats
