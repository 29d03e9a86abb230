// Quantiles of the distributions that intervals of confidence are made of.

#ifndef DISTBENCH_STATS_DISTRIBUTIONS_H_
#define DISTBENCH_STATS_DISTRIBUTIONS_H_

#include <cstdint>

namespace distbench {

// The value that a standard normal variable stays below with the probability,
// which is in (0, 1).
double NormalQuantile(double probability);

// The same of Student's t distribution, with degrees_of_freedom > 0.
double StudentTQuantile(double probability, double degrees_of_freedom);

// The smallest k with P(X <= k) >= probability, of the number X of successes
// among `trials` that succeed with success_probability. Requires trials >= 0
// and both probabilities in (0, 1).
int64_t BinomialQuantile(int64_t trials, double success_probability,
                         double probability);

}  // namespace distbench

#endif  // DISTBENCH_STATS_DISTRIBUTIONS_H_
