// Estimates where noisy measurements cross zero.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_CROSSING_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_CROSSING_H_

#include <optional>
#include <vector>

namespace distbench::search {

struct Measurement {
  double x;
  double y;
  double error;  // standard error of y, finite, not negative
};

struct Crossing {
  double x;
  double error;  // standard error of x
  double slope;  // of the line, positive

  // Half the width of the 95 % confidence interval of x.
  double half_width;
};

// Fits a line to the measurements by weighted least squares, and returns where
// it crosses zero. Because the true curve is not straight, measurements far
// from zero weigh less than their errors suggest. Absent if a rising line
// cannot be distinguished from a level one.
//
// The error is propagated from the errors of the line's two coefficients. These
// are scaled up if the measurements scatter more than their own errors explain;
// see W. H. Press et al., Numerical Recipes, 3rd ed., Cambridge 2007, section
// 15.2. The interval then has the quantile of Student's t distribution, because
// the scatter is known from few measurements.
std::optional<Crossing> FindCrossing(
    const std::vector<Measurement>& measurements);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_CROSSING_H_
