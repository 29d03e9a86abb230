// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Intervals of shares of what is counted, such as of RPCs that failed, which
// also hold where few are counted.

#ifndef DISTBENCH_STATS_SHARE_INTERVAL_H_
#define DISTBENCH_STATS_SHARE_INTERVAL_H_

#include "absl/types/span.h"
#include "distbench/stats/ratio_error.h"
#include "distbench/stats/run_interval.h"

namespace distbench::stats {

// `amount` of `count` were hit, each independently of the others.
// 0 <= amount <= count; either may be a fraction, because of weights.
struct CountedShare {
  double amount;
  double count;

  // 0 if nothing was counted.
  double share() const { return count > 0 ? amount / count : 0; }
};

// Returns the exact interval of C. J. Clopper and E. S. Pearson, The Use of
// Confidence or Fiducial Limits Illustrated in the Case of the Binomial,
// Biometrika 26 (1934) 404-413. Each bound is wrong with a probability of at
// most `error`, in (0, 0.5). Nothing counted may be any share.
Interval IntervalOfShare(const CountedShare& counted, double error);

// Returns next - base with bounds that are wrong with a probability of about
// `error` each, or less: those of both shares, put together by their squares
// (R. G. Newcombe, Interval Estimation for the Difference Between Independent
// Proportions: Comparison of Eleven Methods, Statistics in Medicine 17 (1998)
// 873-890).
Difference DifferenceOfShares(const CountedShare& base,
                              const CountedShare& next, double error);

// Returns the share that as many independent requests have as say equally much
// about it, where those that come together, in consecutive blocks, depend on
// each other: by the design effect of L. Kish, Survey Sampling, Wiley 1965,
// section 8.2, and fewer if that is known from few blocks (E. L. Korn and B. I.
// Graubard, Confidence Intervals for Proportions with Small Expected Number of
// Positive Counts Estimated from Survey Data, Survey Methodology 24 (1998)
// 193-201). Never more than were counted; these if there are no two blocks.
CountedShare EffectiveShare(const CountedShare& counted,
                            absl::Span<const BlockAmount> blocks,
                            double confidence);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_SHARE_INTERVAL_H_
