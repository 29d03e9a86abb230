// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Quantiles of the distributions that confidence intervals are based on.

#ifndef DISTBENCH_STATS_DISTRIBUTIONS_H_
#define DISTBENCH_STATS_DISTRIBUTIONS_H_

#include <cstdint>

namespace distbench::stats {

// Returns the value below which a standard normal variable lies with the given
// probability, which is in (0, 1).
double NormalQuantile(double probability);

// Returns the same for Student's t distribution, with degrees_of_freedom > 0.
double StudentTQuantile(double probability, double degrees_of_freedom);

// Returns the same for the beta distribution of two positive parameters.
double BetaQuantile(double probability, double alpha, double beta);

// Returns the smallest k with P(X <= k) >= probability, where X is the number
// of successes among `trials` independent trials that each succeed with
// success_probability. Requires trials >= 0 and both probabilities in (0, 1).
int64_t BinomialQuantile(int64_t trials, double success_probability,
                         double probability);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_DISTRIBUTIONS_H_
