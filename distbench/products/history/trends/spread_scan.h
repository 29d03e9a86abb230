// Where the spread of a sequence of values changes most clearly.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_SPREAD_SCAN_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_SPREAD_SCAN_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "distbench/products/history/trends/division.h"

namespace distbench::history {

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

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_SPREAD_SCAN_H_
