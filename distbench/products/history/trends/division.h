#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace distbench::history {

// Of a sequence of values into two parts.
struct Division {
  size_t index = 0;     // of the first value of the second part
  double distance = 0;  // between the parts: how clearly they differ
};

// Where a sequence of values divides into the two parts that differ most.

// Examines orders of one set of values. How far parts of m and n values are
// apart is their energy distance (G. J. Szekely and M. L. Rizzo, Testing for
// Equal Distributions in High Dimension, InterStat 5 (2004)), times
// m n / (m + n): twice the mean distance between values of different parts,
// minus the mean distances within the parts.
class EnergyScan {
 public:
  using Item = uint32_t;

  // More values could exceed sums.
  static constexpr size_t kMaxValues = 4095;

  // Values must be finite. Parts have at least `min_part` values (at least 1),
  // so there must be twice as many, and at most kMaxValues.
  EnergyScan(absl::Span<const double> values, size_t min_part);

  // The ranks of the values as they were given, from 0; equal values have
  // different ranks.
  const std::vector<uint32_t>& order() const { return ranks_; }

  // The best division of the values in this order, a permutation of order();
  // the first of those that are equally good. Takes O(n log n). Values count
  // with a precision of 2^-40 of their range.
  Division Best(absl::Span<const uint32_t> order);

  // An upper bound of the probability that a random order of the values has a
  // division with at least this distance. It is far above the probability, and
  // tells only that clear changes cannot be by chance.
  //
  // With parts of m and n values, N together, the distance is 2 N / (m n) times
  // the square of |S|, where S, a function of x, is the number of values of the
  // first part up to x minus its expectation, and |S|^2 the integral of its
  // square. |S| has a mean of at most sqrt(m n V / (N - 1)), where V is half of
  // the mean distance between values, and changes by at most sqrt(range) if two
  // values change places. So it exceeds its mean by e with a probability of at
  // most exp(-2 e^2 (N - 1/2) (1 - 1 / (2 max(m, n))) / (m n range)):
  // R. El-Yaniv and D. Pechyony, Transductive Rademacher Complexity and its
  // Applications, JAIR 35 (2009) 193-234, lemma 2. m and n then cancel out, but
  // for max(m, n) >= N / 2, and the bound is that times the number of
  // divisions.
  double ProbabilityBound(double distance) const;

 private:
  // A number of values and their sum, in one word, so that one addition changes
  // both. Sums are in steps of 2^-40 of the values' range above the smallest.
  using Total = uint64_t;

  // Adds the value to the first part. Returns the sum of its distances from the
  // values that were there, in steps.
  int64_t Move(uint32_t rank);

  const size_t min_part_;
  std::vector<uint32_t> ranks_;
  std::vector<Total> sorted_;  // single values
  double step_ = 0;

  // By rank: the sum of the distances from all values, in steps.
  std::vector<int64_t> distances_;
  int64_t all_distances_ = 0;    // over all pairs
  std::vector<double> inverse_;  // 1 / number of values, from 1 on; [0]: 0

  // The values of the first part: a complete binary tree over the ranks. Node i
  // has the children 2 i and 2 i + 1, and the total of all leaves below it; the
  // leaf of rank r is at leaf_count_ + r, the root at 1. Its paths all have the
  // same length and no branch depends on a value: processors foresee those of a
  // Fenwick tree badly, which took three times as long.
  size_t leaf_count_;
  std::vector<Total> tree_;
};

// Where the spread of a sequence of values changes most clearly.

// Examines orders of one set of distances from a center. How far parts are
// apart is the logarithm of the ratio of likelihoods, of two spreads and of
// one, if the values have a Laplace distribution (for which distances have an
// exponential one). In contrast to that of the normal distribution, single
// outliers do not decide it.
class SpreadScan {
 public:
  using Item = double;

  // Distances must be finite, and at least 0. Parts have at least `min_part`
  // (at least 1), so there must be twice as many.
  SpreadScan(absl::Span<const double> distances, size_t min_part);

  // The distances as they were given.
  const std::vector<double>& order() const { return order_; }

  // The best division of the distances in this order, a permutation of order();
  // the first of those that are equally good. Takes O(n).
  Division Best(absl::Span<const double> order) const;

  // As EnergyScan's. None is known.
  double ProbabilityBound(double /*distance*/) const { return 1; }

 private:
  const size_t min_part_;
  const std::vector<double> order_;
  double sum_;
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_DIVISION_H_
