// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How long what is in progress still takes.

#ifndef DISTBENCH_STATS_RESIDUAL_LIFE_H_
#define DISTBENCH_STATS_RESIDUAL_LIFE_H_

#include "distbench/stats/log_histogram.h"

namespace distbench::stats {

struct ResidualLife {
  double left = 0;         // in the unit of the times
  double time_share = 0;   // of the sum of the times: those longer than `left`
  double count_share = 0;  // of their number
};

// Returns the quantile of how long what is in progress at a random moment still
// takes, if something always is: then the share of the moments at which more
// than x is left is the sum of (s - x) over all times s > x, divided by the sum
// of all s (the residual life of a renewal process; Cox, Renewal Theory, 1962,
// section 5.2). Zeros if there are no times.
ResidualLife ResidualAtQuantile(const LogHistogram& times, double quantile);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RESIDUAL_LIFE_H_
