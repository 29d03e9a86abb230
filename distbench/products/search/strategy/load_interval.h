// The confidence interval of a search's answer.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_INTERVAL_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_INTERVAL_H_

#include <optional>

#include "distbench/products/search/strategy/probe_history.h"

namespace distbench::search {

// Contains the highest load that meets the objectives, with 95 % confidence. A
// bound is absent where no probe gives one.
struct LoadInterval {
  std::optional<double> min;
  std::optional<double> max;
};

// Returns the loads around the crossing of the line through the probes, at 1.96
// standard errors or more on both sides (inverse regression: N. R. Draper and
// H. Smith, Applied Regression Analysis, 3rd ed., Wiley 1998, section 3.2). The
// errors of the probes include that requests depend on those before them.
//
// Loads that clearly met or missed bound the interval as well, because a system
// may have an edge that no line follows. Without a miss there is no upper
// bound.
LoadInterval FindInterval(const ProbeHistory& history);

// Whether the interval proves that the load meets the objectives.
bool IsProven(const LoadInterval& interval, double load);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_INTERVAL_H_
