// Where noisy measurements cross zero.

#ifndef DISTBENCH_SEARCH_STRATEGY_CROSSING_H_
#define DISTBENCH_SEARCH_STRATEGY_CROSSING_H_

#include <optional>
#include <vector>

namespace distbench {

struct Measurement {
  double x;
  double y;
  double error;  // standard error of y, not negative
};

struct Crossing {
  double x;
  double error;  // standard error of x
  double slope;  // of the line, positive
};

// Of the line fitted to the measurements by weighted least squares. As the
// truth is a curve, those far from zero weigh less than their errors say.
// Absent where a rising line can not be told from a level one.
//
// The error is by propagation of those of the line's two coefficients, which
// grow with the scatter of the measurements around the line where that is
// larger than their own errors explain; see W. H. Press et al., Numerical
// Recipes, 3rd ed., Cambridge 2007, section 15.2.
std::optional<Crossing> FindCrossing(
    const std::vector<Measurement>& measurements);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_STRATEGY_CROSSING_H_
