// Where a sequence of values divides into the two parts that differ most.

#ifndef DISTBENCH_HISTORY_TRENDS_ENERGY_SCAN_H_
#define DISTBENCH_HISTORY_TRENDS_ENERGY_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "distbench/history/trends/division.h"

namespace distbench {

// Examines orders of one set of values. How far parts of m and n values are
// apart is their energy distance (G. J. Szekely and M. L. Rizzo, Testing for
// Equal Distributions in High Dimension, InterStat 5 (2004)), times
// m n / (m + n): twice the mean distance between values of different parts,
// minus the mean distances within the parts.
class EnergyScan {
 public:
  using Item = uint32_t;

  // Values must be finite. Parts have at least `min_part` values (at least 1),
  // so there must be twice as many.
  EnergyScan(absl::Span<const double> values, size_t min_part);

  // The ranks of the values as they were given, from 0; equal values have
  // different ranks.
  const std::vector<uint32_t>& order() const { return ranks_; }

  // The best division of the values in this order, a permutation of order();
  // the first of those that are equally good. Takes O(n log n).
  Division Best(absl::Span<const uint32_t> order);

 private:
  // A node of a Fenwick tree over ranks: values of the first part.
  struct Node {
    double sum = 0;
    double count = 0;
  };

  // Adds the value to the first part. Returns the sum of its distances from the
  // values that were there.
  double Move(uint32_t rank);

  const size_t min_part_;
  std::vector<uint32_t> ranks_;
  std::vector<double> sorted_;

  // By rank: the sum of the distances from all values.
  std::vector<double> distances_;
  double all_distances_ = 0;  // over all pairs
  std::vector<Node> tree_;
};

}  // namespace distbench

#endif  // DISTBENCH_HISTORY_TRENDS_ENERGY_SCAN_H_
