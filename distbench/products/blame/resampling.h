// Confidence intervals by the bootstrap.

#ifndef DISTBENCH_PRODUCTS_BLAME_RESAMPLING_H_
#define DISTBENCH_PRODUCTS_BLAME_RESAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace distbench::blame {

// A value, and its 95 % confidence interval.
struct BlameEstimate {
  double value = 0;
  double lower = 0;
  double upper = 0;
};

// How many times each of some items was drawn.
using Multiplicities = std::vector<int>;

// Calls `visit` with each item drawn once, and then with items drawn with
// replacement, as often as DrawnEstimate() needs. The draws are always the same
// for the same seed.
void VisitDraws(size_t item_count, uint64_t seed,
                absl::FunctionRef<void(const Multiplicities&)> visit);

// The percentile interval: B. Efron, Bootstrap methods: another look at the
// jackknife, Annals of Statistics 7 (1979) 1-26. The values are those of the
// visits of VisitDraws(), in order.
BlameEstimate DrawnEstimate(std::vector<double> values);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_RESAMPLING_H_
